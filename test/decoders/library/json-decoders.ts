import type { LibraryDecoder } from './library-decoder.ts';

const json = { 'Content-Type': 'application/json' };

/** Platforms and devices that post JSON. */
export const JSON_DECODERS: LibraryDecoder[] = [
  {
    name: 'flat vendor JSON',
    fields: { TEMPERATURE: 'FLOAT', HUMIDITY: 'FLOAT', ALARM: 'BOOLEAN' },
    serialNumbers: ['WS-1'],
    source: `function Decoder(request) {
  var payload = JSON.parse(request.body);
  var device = payload.serial;
  return [
    { device: device, field: "TEMPERATURE", value: payload.temp },
    { device: device, field: "HUMIDITY", value: payload.hum },
    { device: device, field: "ALARM", value: payload.alarm }
  ];
}`,
    calls: [
      {
        headers: json,
        body: '{"serial":"WS-1","temp":21.5,"hum":40,"alarm":false}',
        expected: [
          { device: 'WS-1', field: 'TEMPERATURE', value: 21.5 },
          { device: 'WS-1', field: 'HUMIDITY', value: 40 },
          { device: 'WS-1', field: 'ALARM', value: false },
        ],
      },
      {
        headers: json,
        body: '{"serial":"WS-1","temp":"n/a","hum":41}',
        expected: [
          { device: 'WS-1', field: 'TEMPERATURE', value: 'n/a', code: 'INVALID_VALUE' },
          { device: 'WS-1', field: 'HUMIDITY', value: 41 },
          { device: 'WS-1', field: 'ALARM', code: 'MISSING_VALUE' },
        ],
      },
    ],
  },
  {
    name: 'several devices in one call',
    fields: { LEVEL: 'FLOAT' },
    serialNumbers: ['tank-1', 'tank-2', '30017'],
    source: `const Decoder = (request) => JSON.parse(request.body).tanks.map(t => ({
  device: t.id, field: 'LEVEL', value: t.level, timestamp: Date.parse(t.at) / 1000
}));`,
    calls: [
      {
        headers: json,
        body: JSON.stringify({
          tanks: [
            { id: 'tank-1', level: 0.5, at: '2026-01-02T03:04:05Z' },
            { id: 'tank-2', level: 0.7, at: '2026-01-02T03:04:05.250Z' },
            { id: 30017, level: 0, at: '2026-01-02T04:04:05+01:00' },
            { id: 'tank-9', level: 1, at: '2026-01-02T03:04:05Z' },
          ],
        }),
        expected: [
          { device: 'tank-1', field: 'LEVEL', value: 0.5, timestamp: 1767323045 },
          { device: 'tank-2', field: 'LEVEL', value: 0.7, timestamp: 1767323045.25 },
          { device: '30017', field: 'LEVEL', value: 0, timestamp: 1767323045 },
          { device: 'tank-9', field: 'LEVEL', value: 1, code: 'UNKNOWN_DEVICE' },
        ],
      },
    ],
  },
  {
    name: 'SenML records with base name and base time',
    fields: { temp: 'FLOAT', label: 'STRING', open: 'BOOLEAN' },
    serialNumbers: ['urn:dev:mac:0024befffe804ff1'],
    source: `"use strict";
function Decoder({ body }) {
  let base = { bn: "", bt: 0, bv: 0 };
  const out = [];
  for (const r of JSON.parse(body)) {
    base = { bn: r.bn ?? base.bn, bt: r.bt ?? base.bt, bv: r.bv ?? base.bv };
    const full = base.bn + (r.n || "");
    const cut = full.lastIndexOf("/");
    const value = r.vs ?? r.vb ?? (r.v === undefined ? undefined : r.v + base.bv);
    if (value === undefined) continue;
    out.push({ device: full.slice(0, cut), field: full.slice(cut + 1), value, timestamp: base.bt + (r.t || 0) });
  }
  return out;
}`,
    calls: [
      {
        headers: { 'Content-Type': 'application/senml+json' },
        body: '[{"bn":"urn:dev:mac:0024befffe804ff1/","bt":1700000000,"n":"temp","v":23.5,"t":-10},{"n":"label","vs":"door"},{"n":"open","vb":true}]',
        expected: [
          { device: 'urn:dev:mac:0024befffe804ff1', field: 'temp', value: 23.5, timestamp: 1699999990 },
          { device: 'urn:dev:mac:0024befffe804ff1', field: 'label', value: 'door', timestamp: 1700000000 },
          { device: 'urn:dev:mac:0024befffe804ff1', field: 'open', value: true, timestamp: 1700000000 },
        ],
      },
    ],
  },
  {
    name: 'cellular hub event with nested body and tower location',
    fields: { VOLTAGE: 'FLOAT', LOCATION: 'GEOLOCATION', EVENT: 'STRING' },
    serialNumbers: ['dev:864475040000001'],
    source: `function Decoder(request) {
  var event = JSON.parse(request.body);
  var out = [];
  function add(field, value) { out.push({ device: event.device, field: field, value: value, timestamp: event.when }); }
  add("EVENT", event.event);
  if (event.file === "readings.qo" && event.body) add("VOLTAGE", event.body.voltage);
  if (typeof event.tower_lat === "number") add("LOCATION", "(" + event.tower_lat + "," + event.tower_lon + ")");
  return out;
}`,
    calls: [
      {
        headers: json,
        body: '{"event":"7b1a","file":"readings.qo","device":"dev:864475040000001","when":1717171717,"body":{"voltage":3.9},"tower_lat":52.5,"tower_lon":13.4}',
        expected: [
          { device: 'dev:864475040000001', field: 'EVENT', value: '7b1a', timestamp: 1717171717 },
          { device: 'dev:864475040000001', field: 'VOLTAGE', value: 3.9, timestamp: 1717171717 },
          { device: 'dev:864475040000001', field: 'LOCATION', value: '(52.5,13.4)', timestamp: 1717171717 },
        ],
      },
      {
        headers: json,
        body: '{"event":"7b1b","file":"_session.qo","device":"dev:864475040000001","when":1717171718}',
        expected: [{ device: 'dev:864475040000001', field: 'EVENT', value: '7b1b', timestamp: 1717171718 }],
      },
    ],
  },
  {
    name: 'history array beside the current value',
    fields: { FLOW: 'FLOAT' },
    serialNumbers: ['m1'],
    source: `let Decoder = function (request) {
  const { id, interval, newest, samples } = JSON.parse(request.body);
  return samples.map((value, i) => ({
    device: id, field: "FLOW", value, timestamp: newest - interval * (samples.length - 1 - i)
  }));
};`,
    calls: [
      {
        headers: json,
        body: '{"id":"m1","interval":900,"newest":1700000000,"samples":[1.5,null,2.5]}',
        expected: [
          { device: 'm1', field: 'FLOW', value: 1.5, timestamp: 1699998200 },
          { device: 'm1', field: 'FLOW', code: 'MISSING_VALUE' },
          { device: 'm1', field: 'FLOW', value: 2.5, timestamp: 1700000000 },
        ],
      },
    ],
  },
  {
    name: 'try and catch around several payload formats',
    fields: { VALUE: 'FLOAT', RAW: 'STRING' },
    serialNumbers: ['any'],
    source: `function Decoder(request) {
  try {
    var p = JSON.parse(request.body);
    return { device: p.device, field: "VALUE", value: p.value };
  } catch (error) {
    console.warn("no JSON:", error.message);
    return [{ device: "any", field: "RAW", value: request.body }];
  }
}`,
    calls: [
      { headers: json, body: '{"device":"any","value":5}', expected: [{ device: 'any', field: 'VALUE', value: 5 }] },
      { body: 'hello', expected: [{ device: 'any', field: 'RAW', value: 'hello' }] },
    ],
  },
  {
    name: 'array of events, filtered and with nulls left in',
    fields: { P: 'FLOAT' },
    serialNumbers: ['a', 'b'],
    source: `function Decoder(r) {
  return JSON.parse(r.body).map(function (e) { return e.type === "power" ? { device: e.d, field: "P", value: e.w } : null; });
}`,
    calls: [
      {
        headers: json,
        body: '[{"type":"hello"},{"type":"power","d":"a","w":12},{"type":"power","d":"b","w":-0.5},{"type":"bye"}]',
        expected: [
          { device: 'a', field: 'P', value: 12 },
          { device: 'b', field: 'P', value: -0.5 },
        ],
      },
      { headers: json, body: '[]', expected: [] },
    ],
  },
  {
    name: 'old-style prototypes and implicit globals',
    fields: { T: 'FLOAT', H: 'FLOAT' },
    serialNumbers: ['proto'],
    source: `
function Reading(device, field, value) { this.device = device; this.field = field; this.value = value; }
Reading.prototype.scale = function (by) { this.value = Math.round(this.value * by * 100) / 100; return this; };
function Decoder(request) {
  data = JSON.parse(request.body);
  results = new Array();
  for (key in data.v) {
    results[results.length] = new Reading(data.id, key, data.v[key]).scale(0.1);
  }
  var key; var key;
  return results;
}`,
    calls: [
      {
        headers: json,
        body: '{"id":"proto","v":{"T":215,"H":456}}',
        expected: [
          { device: 'proto', field: 'T', value: 21.5 },
          { device: 'proto', field: 'H', value: 45.6 },
        ],
      },
    ],
  },
  {
    name: 'with statement and octal of sloppy scripts',
    fields: { MASK: 'INTEGER' },
    serialNumbers: ['sloppy'],
    source: `var Decoder = function (request) { with (JSON.parse(request.body)) { return [{ device: serial, field: "MASK", value: flags & 017 }]; } }`,
    calls: [
      {
        headers: json,
        body: '{"serial":"sloppy","flags":255}',
        expected: [{ device: 'sloppy', field: 'MASK', value: 15 }],
      },
    ],
  },
  {
    name: 'tabs, CRLF and a comment block before the code',
    fields: { N: 'INTEGER' },
    serialNumbers: ['crlf'],
    source:
      '/*\r\n * Meter gateway\r\n */\r\nfunction Decoder(request)\r\n{\r\n\tvar n = JSON.parse(request.body).n\r\n\treturn [ { device : "crlf",\tfield : "N", value : n } , ]\r\n}\r\n',
    calls: [{ headers: json, body: '{"n":3}', expected: [{ device: 'crlf', field: 'N', value: 3 }] }],
  },
];
