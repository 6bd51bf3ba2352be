import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';

/** Parent: a listed view. */
@ObjectType('DeviceView', {
  simpleResolvers: true,
  description: 'A saved view of the device list: a name for its filter, order and columns.',
})
export class DeviceViewObject {
  @Field(() => String, { description: 'Its name, 1 to 100 characters.' })
  name!: string;

  @Field(() => String, {
    description: 'The query of the address of the console’s list, such as ?online=no&value=battery<3.3.',
  })
  query!: string;

  @Field(() => Boolean, { description: 'true: everybody in the workspace sees it; false: only its owner.' })
  shared!: boolean;
}
