import type { Args, MutationWay } from './ways.ts';
import type { World } from './world.ts';

const ALWAYS = { from: '2001-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };

/** A value that nothing else sends: the rule of the world fires by it. */
export const ALARMING = 1.5e300;

/** The rule by which alerts of the walk are made. */
export const ALARM = {
  key: 'alarm',
  name: 'alarm',
  levels: [{ severity: 'CRITICAL', all: [{ field: 'f0', operator: 'GT', value: 1e300 }] }],
};

/** A rule that the values of the world meet. */
const USUAL = { name: 'usual', levels: [{ severity: 'INFO', any: [{ field: 'f0', operator: 'GT', value: -1 }] }] };

/** Conditions that the fields of the world fit. */
const CONDITIONS: Args[] = [
  { field: 'f0', operator: 'GT', value: 2e300, clear: 1e300, window: { aggregation: 'AVG', seconds: 60 } },
  { field: 'f0', operator: 'LT', otherField: 'f2' },
  { absentSeconds: 2_678_400 },
  { field: 'f1', from: 'a', to: 'b' },
  { field: 'place', operator: 'INSIDE', circle: { center: '(1,2)', meters: 3 } },
  { field: 'place', operator: 'OUTSIDE', polygon: ['(0,0)', '(0,1)', '(1,1)'] },
];
/** One that they do not fit, which is told. */
const MISFITS: Args[] = [{ field: 'f0', operator: 'GT', configurationField: 'none' }];

/** A rule with something of everything; `conditions`: of both levels. */
const ruleInput = (conditions: Args[]): Args => ({
  key: 'walked',
  name: 'walked',
  enabled: true,
  tags: ['a'],
  levels: [
    { severity: 'INFO', all: conditions },
    { severity: 'WARNING', any: conditions },
  ],
  forSeconds: 60,
  clearForSeconds: 60,
  latched: true,
  schedule: { days: ['MON'], hours: '08:00-18:00', timeZone: 'Europe/Berlin' },
  notify: { endpointIds: [], endpointKeys: [], groupBy: 'PRODUCT', remindEverySeconds: 60, maxReminders: 3 },
});

const inputs = (w: World): Args[] =>
  [CONDITIONS, [...CONDITIONS, ...MISFITS]].map((conditions) => ({
    productId: w.productId,
    input: ruleInput(conditions),
  }));

/** Ways to the mutations of rules and alerts. */
export const RULES: Record<string, MutationWay> = {
  createRule: { args: inputs },
  updateRule: {
    make: (maker) => maker.rule(ruleInput(CONDITIONS)),
    args: (w, id) => inputs(w).map(({ input }) => ({ id, input })),
  },
  deleteRule: { make: (maker) => maker.rule({ ...ALARM, key: 'gone' }), args: (_, id) => [{ id }] },
  testRule: {
    make: (maker) => maker.rule(ruleInput(CONDITIONS)),
    args: (w, ruleId) => [
      { productId: w.productId, input: USUAL, ...ALWAYS, deviceIds: w.deviceIds.slice(0, 5) },
      ...inputs(w).map((given) => ({ ...given, ...ALWAYS, deviceIds: w.deviceIds.slice(0, 5) })),
      { ruleId, ...ALWAYS, deviceIds: w.deviceIds.slice(0, 200) },
    ],
  },
  acknowledgeAlert: { make: (maker) => maker.alert(), args: (_, id) => [{ id, note: 'seen' }] },
  snoozeAlert: { make: (maker) => maker.alert(), args: (_, id) => [{ id, until: ALWAYS.to }] },
};
