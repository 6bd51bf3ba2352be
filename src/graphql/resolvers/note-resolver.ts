import { Arg, Ctx, FieldResolver, ID, Int, Mutation, Resolver, Root } from 'type-graphql';
import type { Device } from '../../domain/entities/device.ts';
import type { NoteService } from '../../domain/notes/note-service.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { FIRST, readFirst } from '../paging/page.ts';
import { DateTime } from '../types/date-time.ts';
import { DeviceNoteObject } from '../types/device-note.ts';
import { DeviceObject } from '../types/device.ts';

/** Cost of looking for notes, beside what is asked of each. */
const LOOK = 5;
/** Notes of a device that are paid for: most have few. */
const USUAL = 20;

/** Notes on the time lines of devices. */
@Resolver(() => DeviceObject)
export class NoteResolver {
  readonly #notes: NoteService;

  constructor(notes: NoteService) {
    this.#notes = notes;
  }

  @FieldResolver(() => [DeviceNoteObject], {
    complexity: ({ childComplexity }) => LOOK + USUAL * childComplexity,
    description: 'What was noted about it, by people and by the server, newest first.',
  })
  notes(
    @Root() { key }: Device,
    @Arg('from', () => DateTime, { nullable: true, description: 'Inclusive; left out: from the first one.' })
    from?: number | null,
    @Arg('to', () => DateTime, { nullable: true, description: 'Exclusive; left out: up to the last one.' })
    to?: number | null,
    @Arg('first', () => Int, FIRST) first?: number | null,
  ): Promise<DeviceNoteObject[]> {
    return this.#notes.ofDevice(key, { from, to }, readFirst(first));
  }

  @Mutation(() => DeviceNoteObject, { description: 'Writes a note on the time line of a device.' })
  addNote(
    @Ctx() { access }: GraphqlContext,
    @Arg('deviceId', () => ID, { description: 'The device.' }) deviceId: string,
    @Arg('text', () => String, { description: 'Up to 2,000 characters; it may have several lines.' }) text: string,
    @Arg('at', () => DateTime, { nullable: true, description: 'The time that it tells of; left out: now.' })
    at?: number | null,
  ): Promise<DeviceNoteObject> {
    return this.#notes.add(access, deviceId, at == null ? { text } : { text, at });
  }

  @Mutation(() => DeviceNoteObject, { description: 'Changes a note; what is left out stays.' })
  updateNote(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the note.' }) id: string,
    @Arg('text', () => String, { nullable: true, description: 'Up to 2,000 characters.' }) text?: string | null,
    @Arg('at', () => DateTime, { nullable: true, description: 'The time that it tells of.' }) at?: number | null,
  ): Promise<DeviceNoteObject> {
    return this.#notes.update(access, id, { text, at });
  }

  @Mutation(() => ID, { description: 'Removes a note; answers its id.' })
  removeNote(
    @Ctx() { access }: GraphqlContext,
    @Arg('id', () => ID, { description: 'The id of the note.' }) id: string,
  ): Promise<string> {
    return this.#notes.remove(access, id);
  }
}
