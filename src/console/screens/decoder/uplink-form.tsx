import { readBytes, type TrialInput } from './trial-input.ts';
import { counted, t } from '../../texts/texts.ts';

/** A device that may have sent bytes. */
export interface TrialDevice {
  id: string;
  name: string;
  serialNumber: string;
}

/** A configuration field of the decoder. */
export interface TrialVariable {
  identifier: string;
  default: unknown;
}

interface UplinkFormProps {
  input: TrialInput;
  devices: readonly TrialDevice[];
  variables: readonly TrialVariable[];
  onChange: (part: Partial<TrialInput>) => void;
}

/** A form for the bytes of a LoRaWAN network: device, receipt time and configuration. */
export function UplinkForm({ input, devices, variables, onChange }: UplinkFormProps) {
  return (
    <>
      <div class="input-line bytes">
        <label>
          Bytes
          <input
            class="mono"
            spellcheck={false}
            autocomplete="off"
            placeholder="01 67 00 E1, or base64"
            value={input.bytes}
            onInput={(event) => onChange({ bytes: event.currentTarget.value })}
          />
        </label>
        <label>
          Port
          <input
            type="number"
            min={0}
            max={255}
            value={input.port}
            onInput={(event) => onChange({ port: event.currentTarget.value })}
          />
        </label>
      </div>
      <p class="hint" aria-live="polite">
        {bytesText(input.bytes)}
      </p>
      <div class="input-pair">
        <label>
          Device
          <select value={input.deviceId} onChange={(event) => onChange({ deviceId: event.currentTarget.value })}>
            <option value="">{devices.length === 0 ? 'there is none yet' : `the oldest: ${devices[0]!.name}`}</option>
            {devices.slice(1).map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Received
          <input
            type="datetime-local"
            step={1}
            value={input.receivedAt}
            onInput={(event) => onChange({ receivedAt: event.currentTarget.value })}
          />
        </label>
      </div>
      <label>
        Variables
        <textarea
          class="mono"
          rows={Math.max(2, variables.length)}
          spellcheck={false}
          placeholder={placeholderOf(variables)}
          value={input.variables}
          onInput={(event) => onChange({ variables: event.currentTarget.value })}
        />
        <small>
          One <code>name: value</code> on each line, in place of the device’s configuration; empty: as it is configured.
        </small>
      </label>
    </>
  );
}

function bytesText(text: string): string {
  const { bytes, isHex } = readBytes(text);
  if (text.trim() === '')
    return t('Two hexadecimal digits for each byte (blanks, dashes, 0x do not matter), or base64.');
  if (bytes.length === 0) return t('Neither hexadecimal nor base64 yet.');
  return counted(bytes.length, '{count} byte, read as {coding}', '{count} bytes, read as {coding}', {
    coding: isHex ? 'hexadecimal' : 'base64',
  });
}

function placeholderOf(variables: readonly TrialVariable[]): string {
  if (variables.length === 0) return 'offset: 1.5';
  return variables
    .map(({ identifier, default: value }) => `${identifier}: ${value == null ? '' : JSON.stringify(value)}`)
    .join('\n');
}
