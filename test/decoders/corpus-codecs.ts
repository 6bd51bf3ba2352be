/** What a sensor of the corpus sends, and what its codec makes of it: `body` fills `out` from `b` (bytes) and `port`. */
export interface CorpusSensor {
  name: string;
  bytes: number[];
  port: number;
  fields: Record<string, string>;
  body: string;
  stored: Record<string, unknown>;
}

/** Payloads of the kinds that public codecs decode, written by us. */
export const SENSORS: CorpusSensor[] = [
  {
    name: 'climate, two bytes signed',
    bytes: [0xfc, 0x18, 0x28],
    port: 1,
    fields: { temperature: 'FLOAT', humidity: 'FLOAT' },
    body: 'out.temperature = ((b[0] << 8 | b[1]) << 16 >> 16) / 100; out.humidity = b[2];',
    stored: { temperature: -10, humidity: 40 },
  },
  {
    name: 'tracker, a nested position',
    bytes: [0x00, 0x4e, 0x6e, 0x20, 0x00, 0x0a, 0x87, 0x50, 0x01],
    port: 2,
    fields: { gps: 'GEOLOCATION', moving: 'BOOLEAN' },
    body: `function i32(at) { return b[at] << 24 | b[at + 1] << 16 | b[at + 2] << 8 | b[at + 3]; }
      out.gps = { latitude: i32(0) / 1e5, longitude: i32(4) / 1e5 }; out.moving = (b[8] & 1) === 1;`,
    stored: { gps: '(51.4,6.9)', moving: true },
  },
  {
    name: 'meter, values with units',
    bytes: [0x00, 0x00, 0x30, 0x39, 0x8c],
    port: 3,
    fields: { energy: 'FLOAT', voltage: 'FLOAT' },
    body: `out.energy = { value: (b[0] * 16777216 + (b[1] << 16) + (b[2] << 8) + b[3]) / 1000, unit: 'kWh', displayName: 'Energy' };
      out.voltage = { displayName: 'Voltage', unit: 'V', value: b[4] / 10 };`,
    stored: { energy: 12.345, voltage: 14 },
  },
  {
    name: 'soil, a list of depths',
    bytes: [10, 20, 30],
    port: 4,
    fields: { moisture_0: 'FLOAT', moisture_1: 'FLOAT', moisture_2: 'INTEGER' },
    body: 'out.moisture = []; for (var i = 0; i < b.length; i++) { out.moisture.push(b[i]); }',
    stored: { moisture_0: 10, moisture_1: 20, moisture_2: 30 },
  },
  {
    name: 'air, names that are no identifiers',
    bytes: [7, 36, 0xff],
    port: 5,
    fields: { pm2_5: 'FLOAT', battery_voltage: 'FLOAT' },
    body: "out['pm2.5'] = b[0]; out['battery voltage'] = b[1] / 10; out.none = null;",
    stored: { pm2_5: 7, battery_voltage: 3.6 },
  },
  {
    name: 'door, by port',
    bytes: [0x81],
    port: 100,
    fields: { open: 'BOOLEAN', state: 'STRING', count: 'INTEGER' },
    body: `switch (port) { case 100: out.open = !!(b[0] & 1); out.state = b[0] & 0x80 ? 'alarm' : 'ok'; break; default: out.count = 1; }`,
    stored: { open: true, state: 'alarm' },
  },
  {
    name: 'channels, type by type until the end',
    bytes: [0x01, 0x75, 0x5c, 0x03, 0x67, 0xd7, 0x00, 0x04, 0x68, 0x50],
    port: 85,
    fields: { battery: 'INTEGER', temperature: 'FLOAT', humidity: 'FLOAT' },
    body: `for (var i = 0; i < b.length; ) { var id = b[i++], type = b[i++];
      if (id === 0x01 && type === 0x75) { out.battery = b[i]; i += 1; }
      else if (id === 0x03 && type === 0x67) { var raw = b[i + 1] << 8 | b[i]; out.temperature = (raw > 0x7fff ? raw - 0x10000 : raw) / 10; i += 2; }
      else if (id === 0x04 && type === 0x68) { out.humidity = b[i] / 2; i += 1; }
      else break; }`,
    stored: { battery: 92, temperature: 21.5, humidity: 40 },
  },
  {
    name: 'counters, two levels deep',
    bytes: [5, 6, 0x41, 0x42],
    port: 7,
    fields: { ch_a_count: 'INTEGER', ch_b_count: 'INTEGER', version: 'STRING' },
    body: 'out.ch = { a: { count: b[0] }, b: { count: b[1] } }; out.version = String.fromCharCode(b[2], b[3]);',
    stored: { ch_a_count: 5, ch_b_count: 6, version: 'AB' },
  },
];

/** How public codecs are written: the whole source around a sensor's `body`. */
export const STYLES: { name: string; source: (body: string) => string }[] = [
  {
    name: 'decodeUplink with warnings and errors',
    source: (body) => `function decodeUplink(input) {
  var b = input.bytes, port = input.fPort, out = {};
  ${body}
  return { data: out, warnings: [], errors: [] };
}`,
  },
  {
    name: 'Decoder(bytes, port)',
    source: (body) => `function Decoder(bytes, port) {
  // Decode an uplink message from a buffer (array) of bytes to an object of fields.
  var out = {}, b = bytes;
  ${body}
  return out;
}`,
  },
  {
    name: 'Decode(fPort, bytes, variables)',
    source: (body) => `function Decode(fPort, bytes, variables) {
  var out = {}; var b = bytes; var port = fPort;
  ${body}
  return out;
}`,
  },
  {
    name: 'one body for three servers, and an encoder',
    source: (body) => `"use strict";
function decodeUplink(input) { return { data: decode(input.bytes, input.fPort) }; }
function Decode(fPort, bytes) { return decode(bytes, fPort); }
function Decoder(bytes, port) { return decode(bytes, port); }
function decode(b, port) { var out = {}; { ${body} } return out; }
function encodeDownlink(input) { return { bytes: [1], fPort: input.fPort }; }
function decodeDownlink(input) { return { data: { x: input.bytes[0] } }; }
function Encoder(obj, port) { return [obj.x & 0xff]; }
if (typeof module !== 'undefined') { module.exports = { decodeUplink: decodeUplink }; }`,
  },
  {
    name: 'arrows and destructuring',
    source: (body) => `const read = (b, port) => { const out = {}; ${body} return out; };
const decodeUplink = ({ bytes, fPort }) => ({ data: { ...read([...bytes], fPort) }, warnings: bytes?.length ? [] : ['empty'] });`,
  },
  {
    name: 'a class with state',
    source: (body) => `class Reader {
  #bytes; static made = 0;
  constructor(bytes) { this.#bytes = bytes; Reader.made += 1; }
  get values() { const b = this.#bytes, port = this.port, out = {}; ${body} return out; }
}
function decodeUplink(input) {
  const reader = new Reader(Uint8Array.from(input.bytes));
  reader.port = input.fPort;
  if (Reader.made !== 1) throw new Error('state of another call');
  return { data: reader.values };
}`,
  },
  {
    name: 'sloppy, with implicit globals, polyfills and prints',
    source: (body) => `var calls = 0; var calls;
if (!String.prototype.padLeft) { String.prototype.padLeft = function (n) { var s = this; while (s.length < n) s = '0' + s; return '' + s; }; }
function Decoder(bytes, port) {
  hex = ''; out = {}; b = bytes;
  for (i = 0; i < bytes.length; i++) { hex += bytes[i].toString(16).padLeft(2); }
  console.log('hex', hex, 'port ' + port);
  (function () { ${body} })();
  if (++calls !== 1) { throw 'called twice'; }
  return out;
}`,
  },
  {
    name: 'a bundle, as build tools make it',
    source: (body) => `var codec = (function () {
  var __defProp = Object.defineProperty, __export = function (t, all) { for (var n in all) __defProp(t, n, { get: all[n], enumerable: true }); };
  var src = {}; __export(src, { decode: function () { return decode; } });
  function decode(b, port) { var out = Object.create(null); ${body} return Object.assign({}, out); }
  return src;
})();
function decodeUplink(input) { try { return { data: codec.decode(input.bytes, input.fPort) }; } catch (e) { return { errors: [e.message] }; } }`,
  },
];
