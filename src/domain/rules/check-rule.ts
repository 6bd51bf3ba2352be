import { badInput } from '../../errors.ts';
import { checkTags } from '../devices/device-input.ts';
import { checkAuthorKey } from '../keys/author-key.ts';
import { checkText } from '../text/text.ts';
import { checkCondition, checkSeconds, type GivenCondition, type Ground } from './check-condition.ts';
import { type Level, MAX_CONDITIONS, type RuleDefinition, SEVERITIES, type Severity } from './definition.ts';
import { checkNotify, type GivenNotify, TELL_ALL } from './notify.ts';
import { checkSchedule, type GivenSchedule } from './schedule.ts';

/** Maximum characters of a rule's name. */
export const MAX_RULE_NAME = 200;
/** Maximum characters of a rule's definition, as JSON. */
const MAX_DEFINITION = 65_536;

/** A level as a client sends it. */
export interface GivenLevel {
  severity: Severity;
  all?: readonly GivenCondition[] | null | undefined;
  any?: readonly GivenCondition[] | null | undefined;
}

/** A rule as a client sends it, unchecked. */
export interface GivenRule {
  key?: string | null | undefined;
  name: string;
  enabled?: boolean | null | undefined;
  tags?: readonly string[] | null | undefined;
  levels: readonly GivenLevel[];
  forSeconds?: number | null | undefined;
  clearForSeconds?: number | null | undefined;
  latched?: boolean | null | undefined;
  schedule?: GivenSchedule | null | undefined;
  notify?: GivenNotify | null | undefined;
}

/** A rule in its normal form. */
export type CheckedRule = ReturnType<typeof checkRule>;

/** The rule with its defaults; BAD_USER_INPUT naming the path, below `at`, of the first mistake. */
export function checkRule(input: GivenRule, ground: Ground, at = 'input') {
  const definition: RuleDefinition = {
    levels: checkLevels(input.levels, ground, `${at}.levels`),
    forSeconds: checkSeconds(input.forSeconds ?? 0, `${at}.forSeconds`, 0),
    clearForSeconds: checkSeconds(input.clearForSeconds ?? 0, `${at}.clearForSeconds`, 0),
    latched: input.latched ?? false,
    schedule: input.schedule == null ? null : checkSchedule(input.schedule, `${at}.schedule`),
  };
  const { length } = JSON.stringify(definition);
  if (length > MAX_DEFINITION)
    throw badInput(`${at}.levels: ${length} characters as JSON, at most ${MAX_DEFINITION} are allowed.`);
  return {
    authorKey: checkAuthorKey(input.key, `${at}.key`),
    name: checkText(input.name, `${at}.name`, { max: MAX_RULE_NAME }),
    enabled: input.enabled ?? true,
    tags: checkTags(input.tags ?? [], `${at}.tags`),
    definition,
    ...(input.notify == null ? { notify: TELL_ALL, named: [] } : checkNotify(input.notify, `${at}.notify`)),
  };
}

function checkLevels(levels: readonly GivenLevel[], ground: Ground, at: string): Level[] {
  if (levels.length === 0 || levels.length > SEVERITIES.length)
    throw badInput(`${at}: expected 1 to ${SEVERITIES.length} levels, not ${levels.length}.`);
  const places = new Map<Severity, number>();
  const checked = levels.map((level, index) => {
    const path = `${at}[${index}]`;
    const first = places.get(level.severity);
    if (first !== undefined) throw badInput(`${path}.severity: ${level.severity} is also that of ${at}[${first}].`);
    places.set(level.severity, index);
    return checkLevel(level, ground, path);
  });
  const rank = ({ severity }: Level): number => SEVERITIES.indexOf(severity);
  return checked.toSorted((one, other) => rank(one) - rank(other));
}

function checkLevel({ severity, all, any }: GivenLevel, ground: Ground, path: string): Level {
  if ((all == null) === (any == null)) throw badInput(`${path}: give its conditions either as "all" or as "any".`);
  const [name, given] = all == null ? ['any', any!] : ['all', all];
  if (given.length === 0 || given.length > MAX_CONDITIONS)
    throw badInput(`${path}.${name}: expected 1 to ${MAX_CONDITIONS} conditions, not ${given.length}.`);
  const conditions = given.map((condition, index) => checkCondition(condition, ground, `${path}.${name}[${index}]`));
  return { severity, all: all != null, conditions };
}
