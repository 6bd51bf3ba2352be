import 'reflect-metadata';
import { Field, ID, ObjectType } from 'type-graphql';
import type { NoteKind } from '../../domain/entities/device-note.ts';
import { DateTime } from './date-time.ts';
import { NoteKindEnum } from './enums.ts';

/** Parent: the DeviceNote entity. */
@ObjectType('DeviceNote', {
  simpleResolvers: true,
  description: 'A note on the time line of a device; at most 1,000 are kept of each, the oldest go.',
})
export class DeviceNoteObject {
  @Field(() => ID, { description: 'The id of the note, a UUID.' })
  id!: string;

  @Field(() => DateTime, { description: 'The time that it tells of.' })
  at!: number;

  @Field(() => NoteKindEnum, { description: 'What it tells of.' })
  kind!: NoteKind;

  @Field(() => String, { description: 'The note, up to 2,000 characters; it may have several lines.' })
  text!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The e-mail address of who wrote it or made the change, else the name of the token.',
  })
  author?: string | null;

  @Field(() => DateTime, { description: 'When it was written.' })
  createdAt!: number;
}
