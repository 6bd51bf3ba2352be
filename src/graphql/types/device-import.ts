import 'reflect-metadata';
import { Field, Int, ObjectType } from 'type-graphql';

/** Parent: the domain's RefusedDevice. */
@ObjectType('DeviceImportLine', { simpleResolvers: true, description: 'A line of a file of devices that was refused.' })
class DeviceImportLine {
  @Field(() => Int, { description: 'The line in the file, from 1.' })
  line!: number;

  @Field(() => String, { nullable: true, description: 'The serial number as it was written; null: it has none.' })
  serialNumber!: string | null;

  @Field(() => String, {
    description:
      'INVALID_LINE, BAD_USER_INPUT, DUPLICATE_IN_REQUEST (an earlier line has the serial number), CONFLICT, PLAN_LIMIT.',
  })
  code!: string;

  @Field(() => String, { description: 'What was wrong, and what to do.' })
  message!: string;
}

/** Parent: the domain's DeviceImportOutcome. */
@ObjectType('DeviceImport', { simpleResolvers: true, description: 'The outcome of a file of devices.' })
export class DeviceImport {
  @Field(() => Int, { description: 'How many lines there are, without headings and empty ones.' })
  lines!: number;

  @Field(() => Int, { description: 'How many devices were made, or would be.' })
  created!: number;

  @Field(() => Int, { description: 'How many devices were changed, or would be.' })
  updated!: number;

  @Field(() => Int, { description: 'How many devices were there and stay as they are.' })
  kept!: number;

  @Field(() => Int, { description: 'How many lines were refused.' })
  refusedLines!: number;

  @Field(() => [DeviceImportLine], { description: 'The first 10,000 lines that were refused, in their order.' })
  refused!: DeviceImportLine[];
}
