import type { LibraryDecoder } from './library-decoder.ts';

const json = { 'Content-Type': 'application/json' };

/** Payloads in hexadecimal, base64 and raw bytes. */
export const BINARY_DECODERS: LibraryDecoder[] = [
  {
    name: 'Sigfox-like callback with a hexadecimal frame',
    fields: { TEMPERATURE: 'FLOAT', BATTERY: 'FLOAT', SEQ: 'INTEGER' },
    serialNumbers: ['1A2B3C'],
    source: `function hexToBytes(hex) {
  for (var bytes = [], c = 0; c < hex.length; c += 2) bytes.push(parseInt(hex.substr(c, 2), 16));
  return bytes;
}
function Decoder(request) {
  var p = JSON.parse(request.body);
  var b = hexToBytes(p.data);
  var raw = (b[0] << 8) | b[1];
  if (raw > 32767) raw -= 65536;
  return [
    { device: p.device, field: "TEMPERATURE", value: raw / 10, timestamp: p.time },
    { device: p.device, field: "BATTERY", value: b[2] * 0.05, timestamp: p.time },
    { device: p.device, field: "SEQ", value: p.seqNumber, timestamp: p.time }
  ];
}`,
    calls: [
      {
        headers: json,
        body: '{"device":"1A2B3C","time":"1700000000","data":"ffce40","seqNumber":77}',
        expected: [
          { device: '1A2B3C', field: 'TEMPERATURE', value: -5, timestamp: 1700000000 },
          { device: '1A2B3C', field: 'BATTERY', value: 3.2, timestamp: 1700000000 },
          { device: '1A2B3C', field: 'SEQ', value: 77, timestamp: 1700000000 },
        ],
      },
    ],
  },
  {
    name: '__base64decode of a framed payload',
    fields: { A: 'INTEGER', B: 'INTEGER' },
    serialNumbers: ['b64'],
    source: `function Decoder(request) {
  var bytes = __base64decode(JSON.parse(request.body).payload);
  return [
    { device: "b64", field: "A", value: bytes[0] },
    { device: "b64", field: "B", value: bytes[1] + bytes[2] * 256 }
  ];
}`,
    calls: [
      {
        headers: json,
        body: '{"payload":"/wEC"}',
        expected: [
          { device: 'b64', field: 'A', value: 255 },
          { device: 'b64', field: 'B', value: 513 },
        ],
      },
    ],
  },
  {
    name: 'atob with a DataView of floats',
    fields: { X: 'FLOAT' },
    serialNumbers: ['view'],
    source: `function Decoder(request) {
  const text = atob(request.body.trim());
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  return [{ device: "view", field: "X", value: new DataView(bytes.buffer).getFloat32(0, false) }];
}`,
    calls: [
      {
        headers: { 'Content-Type': 'text/plain' },
        body: 'QUgAAA==\n',
        expected: [{ device: 'view', field: 'X', value: 12.5 }],
      },
    ],
  },
  {
    name: 'raw bytes read with charCodeAt',
    fields: { FIRST: 'INTEGER', LAST: 'INTEGER', COUNT: 'INTEGER' },
    serialNumbers: ['raw'],
    source: `function Decoder(request) {
  var b = request.body;
  return [
    { device: request.headers["x-device"], field: "FIRST", value: b.charCodeAt(0) },
    { device: request.headers["X-Device"], field: "LAST", value: b.charCodeAt(b.length - 1) },
    { device: request.headers["X-DEVICE"], field: "COUNT", value: b.length }
  ];
}`,
    calls: [
      {
        headers: { 'Content-Type': 'application/octet-stream', 'X-Device': 'raw' },
        body: new Uint8Array([0, 128, 200, 255]),
        expected: [
          { device: 'raw', field: 'FIRST', value: 0 },
          { device: 'raw', field: 'LAST', value: 255 },
          { device: 'raw', field: 'COUNT', value: 4 },
        ],
      },
    ],
  },
  {
    name: 'type-length-value records',
    fields: { T: 'FLOAT', DOOR: 'BOOLEAN', PULSES: 'INTEGER' },
    serialNumbers: ['tlv'],
    source: `var TYPES = {
  1: ["T", 2, function (v) { return (v > 0x7fff ? v - 0x10000 : v) / 100; }],
  2: ["DOOR", 1, function (v) { return v === 1; }],
  3: ["PULSES", 4, function (v) { return v >>> 0; }]
};
function Decoder(request) {
  var hex = request.POST.data[0], device = request.POST.imei[0], out = [], i = 0;
  while (i < hex.length) {
    var type = TYPES[parseInt(hex.slice(i, i + 2), 16)];
    if (!type) { console.error("unknown type at", i / 2); break; }
    var end = i + 2 + type[1] * 2;
    out.push({ device: device, field: type[0], value: type[2](parseInt(hex.slice(i + 2, end), 16)) });
    i = end;
  }
  return out;
}`,
    calls: [
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: 'imei=tlv&data=01fc18020103fffffffe99',
        expected: [
          { device: 'tlv', field: 'T', value: -10 },
          { device: 'tlv', field: 'DOOR', value: true },
          { device: 'tlv', field: 'PULSES', value: 4294967294 },
        ],
      },
    ],
  },
  {
    name: 'UTF-8 text inside base64 with TextDecoder',
    fields: { NOTE: 'STRING' },
    serialNumbers: ['txt'],
    source: `const Decoder = ({ body }) => [
  { device: "txt", field: "NOTE", value: new TextDecoder().decode(new Uint8Array(__base64decode(body))) }
];`,
    calls: [{ body: 'R3LDvMOfZSDwn5iA', expected: [{ device: 'txt', field: 'NOTE', value: 'Grüße 😀' }] }],
  },
  {
    name: 'checksum and bit fields of a hexadecimal body',
    fields: { OK: 'BOOLEAN', MODE: 'INTEGER' },
    serialNumbers: ['crc'],
    source: `function Decoder(request) {
  var bytes = (request.body.match(/[0-9a-f]{2}/gi) || []).map(function (h) { return parseInt(h, 16); });
  var sum = bytes.slice(0, -1).reduce(function (a, b) { return (a + b) & 0xff; }, 0);
  return [
    { device: "crc", field: "OK", value: sum === bytes[bytes.length - 1] },
    { device: "crc", field: "MODE", value: (bytes[0] >> 4) & 0x07 }
  ];
}`,
    calls: [
      {
        body: 'A5 10 B5',
        expected: [
          { device: 'crc', field: 'OK', value: true },
          { device: 'crc', field: 'MODE', value: 2 },
        ],
      },
      {
        body: 'a510b6',
        expected: [
          { device: 'crc', field: 'OK', value: false },
          { device: 'crc', field: 'MODE', value: 2 },
        ],
      },
    ],
  },
];
