import { useEffect, useState } from 'preact/hooks';
import { wordsOf } from '../../api/api-error.ts';
import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { useQuery } from '../../api/use-query.ts';
import type { DeviceType } from '../../api/schema-types.ts';
import { OneCall } from '../../decoding/decoding.graphql.ts';
import { href, setParameters, useParameter } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { ProductHead } from '../../product/product-head.tsx';
import { may } from '../../session/session.ts';
import { DecoderPage } from './decoder.graphql.ts';
import { dropDraft, keepDraft, readDraft } from './draft.ts';
import { expectedOf, expectedText } from './expected-entries.ts';
import { InputCard, type ShownExample } from './input-card.tsx';
import { ResultCard } from './result-card.tsx';
import { SaveDecoderSheet } from './save-decoder.tsx';
import { SaveExample } from './save-example.tsx';
import { SourceEditor, type SourcePlace } from './source-editor.tsx';
import { StatisticsFacts } from './statistics-facts.tsx';
import { starterSource } from './starter-source.ts';
import { blankInput, exampleRequest, inputOfCall } from './trial-input.ts';
import type { TrialDevice, TrialVariable } from './uplink-form.tsx';
import { useTrial } from './use-trial.ts';
import { VersionsSheet } from './versions-sheet.tsx';
import './decoder.css';
import { t } from '../../texts/texts.ts';

/** The screen of a product's decoder, which runs while it is written. */
export function DecoderScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const isAllowed = may('CONFIGURE');
  const { data, error, refetch } = useQuery(DecoderPage, isAllowed ? { id } : null);
  return (
    <main class="page decoder-page">
      <ProductHead id={id} page="decoder" name={isAllowed ? (data?.product.name ?? null) : undefined} />
      {!isAllowed && <Note>Decoders are for those who may CONFIGURE; this session may not.</Note>}
      {error !== null && data === null && <Note kind="error">{error.message}</Note>}
      {data === null ? (
        isAllowed && error === null && <div class="waiting workbench" aria-busy="true" />
      ) : (
        <>
          <StatisticsFacts productId={id} statistics={data.product.decoderStatistics} />
          <Workbench {...data.product} onChanged={() => void refetch()} />
        </>
      )}
    </main>
  );
}

interface WorkbenchProps {
  id: string;
  deviceType: DeviceType;
  webhookId: string;
  decoder: { version: number; source: string } | null;
  decoderExamples: readonly ShownExample[];
  configurationFields: readonly TrialVariable[];
  devices: { edges: { node: TrialDevice }[] };
  onChanged: () => void;
}

function Workbench(props: WorkbenchProps) {
  const { id, deviceType, webhookId, decoder, decoderExamples, configurationFields, onChanged } = props;
  const devices = props.devices.edges.map(({ node }) => node);
  const saved = decoder?.source ?? '';
  const [given, setGiven] = useState(() => ({
    source: readDraft(id) ?? (saved === '' ? starterSource(deviceType) : saved),
  }));
  const [source, setSource] = useState(given.source);
  const [input, setInput] = useState(() => blankInput(deviceType === 'LORAWAN' ? 'uplink' : 'request'));
  const [chosen, setChosen] = useState<string>(input.kind);
  const [place, setPlace] = useState<SourcePlace | null>(null);
  const [sheet, setSheet] = useState<'save' | 'example' | 'versions' | null>(null);
  const [callId] = useParameter('call');
  const [failure, setFailure] = useState<string | null>(null);
  const trial = useTrial(id, source, input);
  const isChanged = source !== saved;
  useEffect(() => {
    if (isChanged) keepDraft(id, source);
    else dropDraft(id);
  }, [id, source, isChanged]);
  useEffect(() => {
    if (callId === null) return;
    const show = ({ product }: DataOf<typeof OneCall>): void => {
      setInput(inputOfCall(product.call, webhookId));
      setChosen(`call:${callId}`);
    };
    request(OneCall, { productId: id, id: callId }).then(show, (error: unknown) => setFailure(wordsOf(error)));
  }, [id, callId]);
  const close = (): void => setSheet(null);
  const save = (): void => {
    if (isChanged) setSheet('save');
  };
  const error = trial.run?.error ?? null;
  return (
    <>
      {failure !== null && <Note kind="error">{failure}</Note>}
      <div class="workbench">
        <section class="card source" aria-labelledby="source-title">
          <div class="card-head">
            <h2 id="source-title" class="grow">
              Source{' '}
              <small>
                {decoder === null ? 'nothing saved yet' : `version ${decoder.version}${isChanged ? ', changed' : ''}`}
              </small>
            </h2>
            {isChanged && decoder !== null && (
              <button type="button" class="quiet" onClick={() => setGiven({ source: saved })}>
                Undo all
              </button>
            )}
            <button type="button" onClick={() => setSheet('versions')}>
              Versions
            </button>
            {/* Uses aria-disabled instead of `disabled`, with which it would lose the focus after saving. */}
            <button type="button" class="primary" aria-disabled={!isChanged} onClick={save}>
              Save
            </button>
          </div>
          <SourceEditor given={given} mistake={error} place={place} onChange={setSource} onSave={save} />
          <p class="hint source-hint">Ctrl S saves. Tab indents; Escape, then Tab leaves the editor.</p>
        </section>
        <div class="trial">
          <InputCard
            productId={id}
            deviceType={deviceType}
            webhookId={webhookId}
            examples={decoderExamples}
            devices={devices}
            variables={configurationFields}
            input={input}
            chosen={chosen}
            isLed={callId !== null}
            onInput={(next) => {
              setInput(next);
              if (chosen.startsWith('call:')) setChosen(next.kind);
            }}
            onChoose={(next, chosenInput) => {
              setChosen(next);
              setInput(chosenInput);
              setParameters({ call: null });
            }}
            onSaveExample={() => setSheet('example')}
            onExamples={onChanged}
          />
          <ResultCard
            productId={id}
            {...trial}
            onLine={(line) => setPlace({ line })}
            onField={() => {
              trial.again();
              onChanged();
            }}
          />
        </div>
      </div>
      {sheet === 'save' && (
        <SaveDecoderSheet
          productId={id}
          source={source}
          onClose={close}
          onSaved={() => {
            onChanged();
            if (input.callId !== null) toast(t('Calls that failed can be replayed from the call log.'));
          }}
        />
      )}
      {sheet === 'example' && (
        <SaveExample
          productId={id}
          example={exampleRequest(input, devices)}
          expected={expectedText(expectedOf(trial.run?.entries ?? []))}
          onClose={close}
          onSaved={onChanged}
        />
      )}
      {sheet === 'versions' && (
        <VersionsSheet
          productId={id}
          source={source}
          onClose={close}
          onActivated={onChanged}
          onLoad={(loaded) => {
            setGiven({ source: loaded });
            close();
          }}
        />
      )}
      {input.callId !== null && !isChanged && (
        <p class="hint">
          The decoder is saved. <a href={href(`/products/${id}/calls`)}>To the calls</a>, to replay those that failed.
        </p>
      )}
    </>
  );
}
