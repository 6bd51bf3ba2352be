import { deviceIdentity, isNetworkIdentity } from '../text/device-identity.ts';
import type { DeviceType } from '../entities/product.ts';
import { must } from '../../must.ts';

/** Invisible characters. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|\p{Cf}/gu;
/** Prefixes of The Things Stack (`eui-70b3…`), labels and spreadsheets. */
const PREFIX = /^[^0-9a-z]*(?:dev(?:ice)?)?[-_ ]?(?:eui(?:-?64)?|core[-_ ]?id|id)[^0-9a-z]*/i;
const LETTERS = /[OoIl|]/g;
/** Shorter ones may be a factory's own numbers; generated ones have 12 characters. */
const LEAST_DIGITS = 13;

const EXPECTED: Record<DeviceType, string> = {
  API: '',
  LORAWAN: 'an EUI has 16',
  PARTICLE: 'a core id has 24',
};

/**
 * The reason why a serial number that looks right would never be found, with the number that was probably meant; null:
 * none known. No serial number has invisible characters; in a product of a network, near misses of an EUI or core id
 * are rejected too, as the network sends those (CONTRACT 6).
 */
export function serialMistake(serial: string, deviceType: DeviceType): string | null {
  if (isNetworkIdentity(deviceIdentity(serial))) return null;
  const visible = serial.replace(INVISIBLE, '');
  if (visible !== serial) {
    const codes = [...new Set(serial.match(INVISIBLE))].map(codeOf).join(', ');
    return `"${visible}" has an invisible character in it (${codes}): type it anew, without that.`;
  }
  if (deviceType === 'API') return null;
  const bare = serial.replace(PREFIX, '');
  if (bare !== serial && isNetworkIdentity(deviceIdentity(bare))) {
    const before = serial.slice(0, serial.length - bare.length);
    const who = /^eui-/i.test(serial) ? ', as The Things Stack names the device' : '';
    return `"${serial}" begins with "${before}"${who}; the network sends "${bare}": use that.`;
  }
  for (const text of [serial, bare]) {
    const digits = text.replace(LETTERS, (letter) => (letter === 'O' || letter === 'o' ? '0' : '1'));
    if (digits !== text && isNetworkIdentity(deviceIdentity(digits))) {
      const letters = [...new Set(text.match(LETTERS))].join(', ');
      return `"${serial}" has a letter (${letters}) where there can be a digit only: did you mean "${digits}"?`;
    }
    const joined = digits.replace(/[^0-9a-z]/gi, '');
    if (isNetworkIdentity(deviceIdentity(joined)))
      return `"${serial}" has signs in it that stand in no identifier: did you mean "${joined}"?`;
  }
  const hexadecimal = bare.replace(/^\s*0x/i, '').replace(/[^0-9a-z]/gi, '');
  if (!/^[0-9a-f]+$/i.test(hexadecimal) || hexadecimal.length < LEAST_DIGITS) return null;
  const key = hexadecimal.length === 32 ? ' (32 are those of a key, such as the AppKey)' : '';
  return `"${serial}" has ${hexadecimal.length} hexadecimal digits${key}, ${EXPECTED[deviceType]}: compare it with the device's label.`;
}

function codeOf(character: string): string {
  return `U+${must(character.codePointAt(0)).toString(16).toUpperCase().padStart(4, '0')}`;
}
