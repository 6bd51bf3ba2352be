import type { EntityManager } from '@mikro-orm/sql';
import type { Access } from '../access/access.ts';
import { authorOf } from '../access/who-is.ts';
import type { Device } from '../entities/device.ts';
import type { NoteKind } from '../entities/device-note.ts';
import type { Dialect } from '../ports/database.ts';
import { MAX_NOTE, writeNote, writeNotes } from './write-note.ts';

/** The transaction of a change, who makes it, and when (ms UTC). */
interface Changing {
  em: EntityManager;
  access: Access;
  now: number;
}

/** The parts of a device whose change is told on its time line. */
interface ToldState {
  serialNumber: string;
  plan: string;
  productId: string;
  productName: string;
}

/** The present ones; the product must be loaded. */
export function toldState({ serialNumber, plan, product }: Device): ToldState {
  return { serialNumber, plan, productId: product.id, productName: product.name };
}

/** Notes what of them has changed since `before`. */
export async function noteChanges(changing: Changing, before: ToldState, device: Device): Promise<void> {
  const now = toldState(device);
  if (now.productId !== before.productId)
    await note(changing, device, 'MOVED', `Moved from the product "${before.productName}" to "${now.productName}".`);
  const texts = [
    ...(now.serialNumber === before.serialNumber
      ? []
      : [`Serial number ${before.serialNumber} → ${now.serialNumber}.`]),
    ...(now.plan === before.plan ? [] : [otherPlan(before.plan, now.plan)]),
  ];
  if (texts.length > 0) await note(changing, device, 'CHANGED', texts.join(' '));
}

/** Notes the other plans of many devices, by their keys. */
export async function noteOtherPlans(
  { em, access, now }: Changing,
  dialect: Dialect,
  devices: readonly { key: number; before: string; plan: string }[],
): Promise<void> {
  if (devices.length === 0) return;
  const texts = new Map(devices.map(({ key, before, plan }) => [key, otherPlan(before, plan)]));
  const author = await authorOf(em, access.tokenId);
  await writeNotes(em, dialect, texts, { kind: 'CHANGED', at: now, author, now });
}

const otherPlan = (before: string, plan: string): string => `Plan ${before} → ${plan}.`;

/** Notes that the device goes on with another sensor; `absorbed`: the name of the device that had it. */
export async function noteReplaced(
  changing: Changing,
  before: ToldState,
  device: Device,
  absorbed: string | null,
): Promise<void> {
  const { serialNumber } = device;
  const values = absorbed === null ? '' : ` It goes on with what "${absorbed}" had recorded.`;
  if (serialNumber === before.serialNumber && absorbed === null) return;
  const text = `Sensor replaced: serial number ${before.serialNumber} → ${serialNumber}.${values}`;
  await note(changing, device, 'REPLACED', text);
}

/** Values of configuration fields by identifier; none: the product's default holds. */
type Values = ReadonlyMap<string, unknown>;

/** Notes which values of the configuration have changed. */
export async function noteConfigured(
  changing: Changing,
  { before, after }: { before: Values; after: Values },
  device: Device,
): Promise<void> {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const texts = names.flatMap((name) => {
    const [one, other] = [shown(before.get(name)), shown(after.get(name))];
    return one === other ? [] : [`${name} ${one} → ${other}`];
  });
  if (texts.length > 0) await note(changing, device, 'CONFIGURED', `Configuration: ${texts.join(', ')}.`);
}

async function note({ em, access, now }: Changing, device: Device, kind: NoteKind, text: string): Promise<void> {
  const author = await authorOf(em, access.tokenId);
  const known = text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE - 1).toWellFormed()}…` : text;
  await writeNote(em, device, { kind, text: known, at: now, author, now });
}

const MAX_SHOWN = 80;

function shown(value: unknown): string {
  if (value == null) return 'default';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}
