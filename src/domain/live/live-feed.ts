import type { AppError } from '../../errors.ts';
import { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { eachInTurns, Slices } from '../../scheduling/yield-to-event-loop.ts';
import { type EventShape, type Interest, LiveSubscription } from './live-subscription.ts';
import { must } from '../../must.ts';

/** Maximum topics that are named together; beyond it all are of interest. */
const MAX_NAMED = 1_000;
/** Time that the reader of a subscription takes for an error. */
const FAIL_MS = 0.05;

/** Subscriptions by their audience. */
type Audiences<Subscription> = Map<unknown, Set<Subscription>>;

/**
 * Hands events to those who subscribe, found by the topic of an event, in slices: thousands may want each, or leave at the
 * same moment. What they leave unread is bounded, for each of them and for each tenant.
 */
export class LiveFeed<Event, Topic, Out = Event> {
  readonly #topicOf: (event: Event) => Topic;
  readonly #shape: EventShape<Event, Out>;
  readonly #backlogs = new BacklogMemory();
  readonly #all = new Set<LiveSubscription<Event, Topic, Out>>();
  /** Those that named no topics. */
  readonly #ofAny: Audiences<LiveSubscription<Event, Topic, Out>> = new Map();
  readonly #byTopic = new Map<Topic, Audiences<LiveSubscription<Event, Topic, Out>>>();
  readonly #forgetting = new EventLoopQueue(LANES.endedSubscriptions);

  constructor(topicOf: (event: Event) => Topic, shape: EventShape<Event, Out>) {
    this.#topicOf = topicOf;
    this.#shape = shape;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Topics that anybody wants; null: any. */
  get topics(): Topic[] | null {
    return this.#ofAny.size > 0 || this.#byTopic.size > MAX_NAMED ? null : [...this.#byTopic.keys()];
  }

  /** A subscription that gets no events before it is added. */
  open(interest: Interest<Event, Topic>, tenant: string, onEnd = (): void => {}): LiveSubscription<Event, Topic, Out> {
    const subscription = new LiveSubscription<Event, Topic, Out>({
      interest,
      shape: this.#shape,
      backlog: this.#backlogs.of(tenant),
      onEnd: () => {
        this.#delete(subscription);
        onEnd();
      },
    });
    return subscription;
  }

  /** The subscription gets the events from now on. */
  add(subscription: LiveSubscription<Event, Topic, Out>): void {
    if (subscription.isEnded) return;
    this.#all.add(subscription);
    const { topics } = subscription.interest;
    if (topics === null) addTo(this.#ofAny, subscription);
    for (const topic of topics ?? []) {
      const audiences = this.#byTopic.get(topic) ?? new Map();
      this.#byTopic.set(topic, audiences);
      addTo(audiences, subscription);
    }
  }

  /**
   * Hands out the events in their order. Rejects when it cannot be told who accepts a topic: then none of them was handed
   * out. A subscription that is added meanwhile may get some of them, one that ends gets no more.
   */
  async notify(events: readonly Event[]): Promise<void> {
    const slices = new Slices(NOBODY);
    const accepting = await this.#accepting(new Set(events.map(this.#topicOf)), slices);
    for (const event of events)
      for (const audience of accepting.get(this.#topicOf(event)) ?? [])
        for (const subscription of audience) {
          const { wants } = subscription.interest;
          if (this.#all.has(subscription) && (wants?.(event) ?? true)) slices.offer(subscription, event);
          if (slices.isOver) await slices.next();
        }
  }

  /** Ends all subscriptions with the error, or those to the topic; none of them gets another event. */
  fail(error: AppError, topic?: Topic): void {
    const failed = topic === undefined ? [...this.#all] : [...this.#of(topic)].flatMap((audience) => [...audience]);
    for (const subscription of failed) this.#delete(subscription);
    void runAs(NOBODY, () => eachInTurns(failed, (subscription) => subscription.fail(error), FAIL_MS));
  }

  /** By topic the audiences that accept it, asked for once for all events. */
  async #accepting(
    topics: ReadonlySet<Topic>,
    slices: Slices,
  ): Promise<ReadonlyMap<Topic, ReadonlySet<LiveSubscription<Event, Topic, Out>>[]>> {
    const accepting = new Map<Topic, ReadonlySet<LiveSubscription<Event, Topic, Out>>[]>();
    const [asked, failures]: [Promise<unknown>[], unknown[]] = [[], []];
    for (const topic of topics) {
      const found: ReadonlySet<LiveSubscription<Event, Topic, Out>>[] = [];
      accepting.set(topic, found);
      for (const audience of this.#of(topic)) {
        const accepts = firstOf(audience).interest.accepts?.(topic) ?? true;
        if (accepts === true) found.push(audience);
        else if (accepts !== false)
          asked.push(
            accepts.then(
              (isAccepted) => isAccepted && found.push(audience),
              (error: unknown) => failures.push(error),
            ),
          );
        if (slices.isOver) await slices.next();
      }
    }
    await Promise.all(asked);
    if (failures.length > 0) throw failures[0];
    return accepting;
  }

  *#of(topic: Topic): Generator<ReadonlySet<LiveSubscription<Event, Topic, Out>>, void> {
    yield* this.#ofAny.values();
    yield* this.#byTopic.get(topic)?.values() ?? [];
  }

  /** It gets nothing from now on, though it is found by its topics for a moment. */
  #delete(subscription: LiveSubscription<Event, Topic, Out>): void {
    if (!this.#all.delete(subscription)) return;
    const { topics } = subscription.interest;
    if (topics === null) return deleteFrom(this.#ofAny, subscription);
    void this.#forgetting.run(async () => {
      for (const topic of topics) {
        const audiences = must(this.#byTopic.get(topic));
        deleteFrom(audiences, subscription);
        if (audiences.size === 0) this.#byTopic.delete(topic);
      }
    });
  }
}

function firstOf<Item>(items: Iterable<Item>): Item {
  for (const item of items) return item;
  throw new Error('an audience has no subscription');
}

interface Member {
  readonly audience: unknown;
}

function addTo<Subscription extends Member>(audiences: Audiences<Subscription>, subscription: Subscription): void {
  const same = audiences.get(subscription.audience);
  if (same === undefined) audiences.set(subscription.audience, new Set([subscription]));
  else same.add(subscription);
}

function deleteFrom<Subscription extends Member>(audiences: Audiences<Subscription>, subscription: Subscription): void {
  const same = audiences.get(subscription.audience);
  same?.delete(subscription);
  if (same?.size === 0) audiences.delete(subscription.audience);
}
