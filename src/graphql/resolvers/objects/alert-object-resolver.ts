import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { shownValues } from '../../../domain/rules/shown-rule.ts';
import { notFound } from '../../../errors.ts';
import type { GraphqlContext } from '../../context/graphql-context.ts';
import { type Promised, whenKnown } from '../../context/promised.ts';
import { AlertObject, AlertTraceObject } from '../../types/alert.ts';
import { DeviceObject } from '../../types/device.ts';
import { RuleObject } from '../../types/rule.ts';

/** What an alert is about (CONTRACT 12). */
@Resolver(() => AlertObject)
export class AlertObjectResolver {
  @FieldResolver(() => RuleObject, { description: 'The rule that made it.' })
  rule(@Root() { id, ruleKey }: AlertObject, @Ctx() { loaders }: GraphqlContext): Promised<RuleObject> {
    return whenKnown(loaders.rule.load(ruleKey), (rule) => {
      if (rule === null) throw notFound('alert', id);
      return rule;
    });
  }

  @FieldResolver(() => DeviceObject, { description: 'The device.' })
  device(@Root() { id, deviceKey }: AlertObject, @Ctx() { loaders }: GraphqlContext): Promised<DeviceObject> {
    return whenKnown(loaders.deviceByKey.load(deviceKey), (device) => {
      if (device === null) throw notFound('alert', id);
      return device;
    });
  }

  @FieldResolver(() => [AlertTraceObject], {
    complexity: ({ childComplexity }) => 1 + 10 * childComplexity,
    description: 'Its changes in order: at most the first 20 and the last 80.',
  })
  async trace(
    @Root() { ruleKey, trace }: AlertObject,
    @Ctx() { loaders }: GraphqlContext,
  ): Promise<AlertTraceObject[]> {
    const rule = await loaders.rule.load(ruleKey);
    const fields = rule === null ? [] : await loaders.fieldsOfProduct.load(rule.productKey);
    return trace.map(({ note = null, values, ...entry }) => ({
      ...entry,
      note,
      values: shownValues(values, { fields, configuration: [] }),
    }));
  }
}
