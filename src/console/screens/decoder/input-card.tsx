import { useEffect } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import type { DecoderRequestInput, DeviceType } from '../../api/schema-types.ts';
import { statusText } from '../../decoding/call-status.tsx';
import { type CallParts, CallsPage } from '../../decoding/decoding.graphql.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { RemoveExample } from './decoder.graphql.ts';
import { blankInput, inputOfCall, inputOfRequest, isBlank, type TrialInput } from './trial-input.ts';
import { type TrialDevice, type TrialVariable, UplinkForm } from './uplink-form.tsx';
import { counted, t } from '../../texts/texts.ts';

/** The properties of a stored example that the picker needs. */
export interface ShownExample {
  id: string;
  name: string;
  request: unknown;
  expected: unknown;
}

interface InputCardProps {
  productId: string;
  deviceType: DeviceType;
  webhookId: string;
  examples: readonly ShownExample[];
  devices: readonly TrialDevice[];
  variables: readonly TrialVariable[];
  input: TrialInput;
  /** The picker's choice: `request`, `uplink`, `call:<id>` or `example:<id>`. */
  chosen: string;
  /** True when the address names a call, which is then loaded by itself. */
  isLed: boolean;
  onInput: (input: TrialInput) => void;
  onChoose: (chosen: string, input: TrialInput) => void;
  onSaveExample: () => void;
  onExamples: () => void;
}

const LATEST = 20;

/** The decoder's input: one of the last calls, an example, a typed request, or bytes and a port. */
export function InputCard(props: InputCardProps) {
  const { productId, deviceType, webhookId, examples, input, chosen, isLed, onInput, onChoose } = props;
  const { data } = useQuery(CallsPage, { productId, first: LATEST });
  const removing = useAction(async (id: string) => {
    await request(RemoveExample, { id });
    onChoose('request', { ...input, callId: null });
    props.onExamples();
  });
  const calls = data?.product.calls.edges.map(({ node }) => node) ?? [];
  const choose = (next: string): void => {
    const [kind, id] = next.split(':');
    const call = calls.find((one) => one.id === id);
    const example = examples.find((one) => one.id === id);
    if (kind === 'call' && call !== undefined) onChoose(next, inputOfCall(call, webhookId));
    else if (kind === 'example' && example !== undefined)
      onChoose(next, inputOfRequest(example.request as DecoderRequestInput));
    else if (kind === 'request' || kind === 'uplink') onChoose(next, blankInput(kind));
  };
  // Begin with the newest call.
  const newest = calls[0]?.id;
  useEffect(() => {
    if (newest !== undefined && isBlank(input) && !isLed) choose(`call:${newest}`);
  }, [newest !== undefined]);
  // An edited input is no longer that call.
  const change = (part: Partial<TrialInput>): void => onInput({ ...input, ...part, callId: null });
  const [kind, id] = chosen.split(':');
  const isElsewhere = kind === 'call' && !calls.some((call) => call.id === id);
  return (
    <section class="card" aria-labelledby="input-title">
      <div class="card-head">
        <h2 id="input-title">Input</h2>
        <select
          class="grow"
          aria-label="Try it on"
          value={chosen}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="request">A call made up here</option>
          {deviceType !== 'PARTICLE' && <option value="uplink">Bytes and port (LoRaWAN)</option>}
          {isElsewhere && <option value={chosen}>The call chosen in the log</option>}
          {examples.length > 0 && (
            <optgroup label="Examples">
              {examples.map((example) => (
                <option key={example.id} value={`example:${example.id}`}>
                  {example.name}
                </option>
              ))}
            </optgroup>
          )}
          {calls.length > 0 && (
            <optgroup label={counted(calls.length, 'The last call', 'The last {count} calls')}>
              {calls.map((call) => (
                <option key={call.id} value={`call:${call.id}`}>
                  {callText(call)}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </div>
      <div class="stack input-form">
        {input.kind === 'uplink' ? (
          <UplinkForm input={input} devices={props.devices} variables={props.variables} onChange={change} />
        ) : (
          <>
            <div class="input-line">
              <label>
                Method
                <select value={input.method} onChange={(event) => change({ method: event.currentTarget.value })}>
                  <option>POST</option>
                  <option>GET</option>
                  <option>MQTT</option>
                </select>
              </label>
              <label>
                {input.method === 'MQTT' ? 'Topic behind the webhook id' : 'Path behind the webhook'}
                <input
                  class="mono"
                  spellcheck={false}
                  placeholder={input.method === 'MQTT' ? 'tele/plug-1/SENSOR' : 'data?unit=C'}
                  value={input.path}
                  onInput={(event) => change({ path: event.currentTarget.value })}
                />
              </label>
            </div>
            <label>
              Body
              <textarea
                class="mono"
                rows={6}
                spellcheck={false}
                value={input.body}
                onInput={(event) => change({ body: event.currentTarget.value })}
              />
            </label>
            <details>
              <summary>Headers ({input.headers === '' ? 0 : input.headers.split('\n').length})</summary>
              <textarea
                class="mono"
                rows={4}
                spellcheck={false}
                aria-label="Headers, one on each line"
                value={input.headers}
                onInput={(event) => change({ headers: event.currentTarget.value })}
              />
            </details>
          </>
        )}
        <div class="row">
          <button type="button" onClick={props.onSaveExample}>
            <Icon name="plus" /> Save as example
          </button>
          {kind === 'example' && (
            <button type="button" class="danger" disabled={removing.busy} onClick={() => void removing.run(id ?? '')}>
              <Icon name="trash" /> Remove this example
            </button>
          )}
        </div>
        {removing.error !== null && <Note kind="error">{removing.error}</Note>}
      </div>
    </section>
  );
}

function callText({ receivedAt, method, status, body, bodyTruncated }: CallParts): string {
  const cut = bodyTruncated ? t(' (cut)') : '';
  return `${dateTimeText(new Date(receivedAt))} · ${statusText(status)} · ${method} ${body.slice(0, 40)}${cut}`;
}
