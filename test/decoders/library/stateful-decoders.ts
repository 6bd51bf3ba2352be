import type { LibraryDecoder } from './library-decoder.ts';

const json = { 'Content-Type': 'application/json' };

/** Decoders that look at devices and at what is stored. The calls of each run in their order. */
export const STATEFUL_DECODERS: LibraryDecoder[] = [
  {
    name: 'consumption as the difference to the last counter',
    fields: { COUNTER: 'FLOAT', CONSUMPTION: 'FLOAT' },
    serialNumbers: ['meter-1'],
    source: `function Decoder(request) {
  var p = JSON.parse(request.body);
  var id = deviceSerialToId[p.serial];
  var last = measurements[id] && measurements[id].COUNTER;
  var out = [{ device: p.serial, field: "COUNTER", value: p.counter, timestamp: p.time }];
  if (last && last.value !== null) out.push({ device: id, field: "CONSUMPTION", value: p.counter - last.value, timestamp: p.time });
  return out;
}`,
    calls: [
      {
        headers: json,
        body: '{"serial":"meter-1","counter":100,"time":1700000000}',
        expected: [{ device: 'meter-1', field: 'COUNTER', value: 100, timestamp: 1700000000 }],
      },
      {
        headers: json,
        body: '{"serial":"meter-1","counter":104.5,"time":1700000060}',
        expected: [
          { device: 'meter-1', field: 'COUNTER', value: 104.5, timestamp: 1700000060 },
          { field: 'CONSUMPTION', value: 4.5, timestamp: 1700000060 },
        ],
      },
      {
        headers: json,
        body: '{"serial":"meter-1","counter":110,"time":1700000120}',
        expected: [
          { device: 'meter-1', field: 'COUNTER', value: 110, timestamp: 1700000120 },
          { field: 'CONSUMPTION', value: 5.5, timestamp: 1700000120 },
        ],
      },
    ],
  },
  {
    name: 'seconds since the last message',
    fields: { BEAT: 'INTEGER', GAP: 'FLOAT' },
    serialNumbers: ['heart'],
    source: `const Decoder = ({ body }) => {
  const { id, t } = JSON.parse(body);
  const last = measurements[deviceSerialToId[id]]?.BEAT?.timestamp;
  return [
    { device: id, field: 'BEAT', value: 1, timestamp: t },
    last == null ? undefined : { device: id, field: 'GAP', value: t - last, timestamp: t },
  ];
};`,
    calls: [
      {
        headers: json,
        body: '{"id":"heart","t":1700000000}',
        expected: [{ device: 'heart', field: 'BEAT', value: 1, timestamp: 1700000000 }],
      },
      {
        headers: json,
        body: '{"id":"heart","t":1700000090}',
        expected: [
          { device: 'heart', field: 'BEAT', value: 1, timestamp: 1700000090 },
          { device: 'heart', field: 'GAP', value: 90, timestamp: 1700000090 },
        ],
      },
    ],
  },
  {
    name: 'only devices that are known',
    fields: { S: 'INTEGER' },
    serialNumbers: ['known-1', 'known-2'],
    source: `function Decoder(request) {
  return request.body.split(" ").filter(function (serial) {
    return deviceSerialToId.hasOwnProperty(serial);
  }).map(function (serial) { return { device: deviceSerialToId[serial], field: "S", value: serial.slice(-1) }; });
}`,
    calls: [
      {
        body: 'known-2 stranger toString known-1',
        expected: [
          { field: 'S', value: '2' },
          { field: 'S', value: '1' },
        ],
      },
    ],
  },
  {
    name: 'top-level state that never outlives a call',
    fields: { N: 'INTEGER' },
    serialNumbers: ['fresh'],
    source: `var calls = 0;
counter = typeof counter === "undefined" ? 1 : counter + 1;
Array.prototype.seen = (Array.prototype.seen || 0) + 1;
function Decoder() {
  calls++;
  return [{ device: "fresh", field: "N", value: calls + counter + [].seen }];
}`,
    calls: [
      { body: '1', expected: [{ device: 'fresh', field: 'N', value: 3 }] },
      { body: '2', expected: [{ device: 'fresh', field: 'N', value: 3 }] },
    ],
  },
];
