import type { LibraryDecoder } from './library-decoder.ts';

/** Forms, queries, sub-paths, CSV and other text. */
export const TEXT_DECODERS: LibraryDecoder[] = [
  {
    name: 'GET query only',
    fields: { TEMP: 'FLOAT', HUM: 'FLOAT' },
    serialNumbers: ['esp-1'],
    source: `function Decoder(request) {
  if (request.method !== "GET") return [];
  var g = request.GET;
  return [
    { device: g.id[0], field: "TEMP", value: g.t[0] },
    { device: g.id[0], field: "HUM", value: g.h ? g.h[0] : undefined }
  ];
}`,
    calls: [
      {
        method: 'GET',
        path: '?id=esp-1&t=19.75&h=50',
        expected: [
          { device: 'esp-1', field: 'TEMP', value: '19.75' },
          { device: 'esp-1', field: 'HUM', value: '50' },
        ],
      },
      {
        method: 'GET',
        path: '?id=esp-1&t=20',
        expected: [
          { device: 'esp-1', field: 'TEMP', value: '20' },
          { device: 'esp-1', field: 'HUM', code: 'MISSING_VALUE' },
        ],
      },
      { path: '?id=esp-1&t=20', body: 'x', expected: [] },
    ],
  },
  {
    name: 'form with repeated names',
    fields: { P: 'FLOAT', NAME: 'STRING' },
    serialNumbers: ['form device'],
    source: `function Decoder(request) {
  var post = request.POST;
  return post.p.map(function (p, i) {
    return { device: post.dev[0], field: "P", value: parseFloat(p.replace(",", ".")), timestamp: 1700000000 + i };
  }).concat([{ device: post.dev[0], field: "NAME", value: post["na me"][0] }]);
}`,
    calls: [
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'dev=form+device&p=1%2C5&p=2,5&na%20me=caf%C3%A9',
        expected: [
          { device: 'form device', field: 'P', value: 1.5, timestamp: 1700000000 },
          { device: 'form device', field: 'P', value: 2.5, timestamp: 1700000001 },
          { device: 'form device', field: 'NAME', value: 'café' },
        ],
      },
    ],
  },
  {
    name: 'device in the sub-path, exactly as sent',
    fields: { V: 'FLOAT', PATH: 'STRING' },
    serialNumbers: ['boiler 7'],
    source: `function Decoder(request) {
  var parts = request.path.split("/");
  var device = decodeURIComponent(parts[4]);
  return [
    { device: device, field: "V", value: parts[5] },
    { device: device, field: "PATH", value: parts.slice(4).join("/") }
  ];
}`,
    calls: [
      {
        path: 'boiler%207/42.5/?ignored=1',
        expected: [
          { device: 'boiler 7', field: 'V', value: '42.5' },
          { device: 'boiler 7', field: 'PATH', value: 'boiler%207/42.5/' },
        ],
      },
    ],
  },
  {
    name: 'CSV with a header line',
    fields: { temp: 'FLOAT', rh: 'FLOAT' },
    serialNumbers: ['c1', 'c2'],
    source: `function Decoder(request) {
  var lines = request.body.split(/\\r?\\n/).filter(Boolean);
  var names = lines.shift().split(";");
  var out = [];
  lines.forEach(function (line) {
    var cells = line.split(";");
    for (var i = 2; i < names.length; i++)
      if (cells[i] !== "") out.push({ device: cells[0], field: names[i], value: +cells[i], timestamp: +cells[1] });
  });
  return out;
}`,
    calls: [
      {
        headers: { 'Content-Type': 'text/csv' },
        body: 'id;time;temp;rh\r\nc1;1700000000;20.5;40\r\nc2;1700000060;;41\r\nc1;1700000120;x;42\r\n',
        expected: [
          { device: 'c1', field: 'temp', value: 20.5, timestamp: 1700000000 },
          { device: 'c1', field: 'rh', value: 40, timestamp: 1700000000 },
          { device: 'c2', field: 'rh', value: 41, timestamp: 1700000060 },
          { device: 'c1', field: 'temp', value: 'NaN', code: 'INVALID_VALUE' },
          { device: 'c1', field: 'rh', value: 42, timestamp: 1700000120 },
        ],
      },
    ],
  },
  {
    name: 'XML read with regular expressions',
    fields: { Power: 'FLOAT', State: 'STRING' },
    serialNumbers: ['INV-9'],
    source: `function tag(xml, name) { var m = new RegExp("<" + name + "[^>]*>([^<]*)</" + name + ">").exec(xml); return m ? m[1] : undefined; }
function Decoder(request) {
  var id = /serial="([^"]+)"/.exec(request.body)[1];
  return ["Power", "State"].map(function (f) { return { device: id, field: f, value: tag(request.body, f) }; });
}`,
    calls: [
      {
        headers: { 'Content-Type': 'application/xml' },
        body: '<?xml version="1.0"?>\n<inverter serial="INV-9"><Power unit="W">1234.5</Power><State>running</State></inverter>',
        expected: [
          { device: 'INV-9', field: 'Power', value: '1234.5' },
          { device: 'INV-9', field: 'State', value: 'running' },
        ],
      },
    ],
  },
  {
    name: 'key=value lines with units',
    fields: { VOLT: 'FLOAT', AMPERE: 'FLOAT' },
    serialNumbers: ['psu'],
    source: `const Decoder = (request) => request.body.split('\\n').flatMap((line) => {
  const found = /^\\s*(\\w+)\\s*=\\s*([-\\d.]+)\\s*(?:V|A)?\\s*$/.exec(line);
  return found ? [{ device: 'psu', field: found[1].toUpperCase(), value: Number(found[2]) }] : [];
});`,
    calls: [
      {
        headers: { 'Content-Type': 'text/plain' },
        body: 'volt = 12.1 V\nnonsense\nampere=-0.25 A\n',
        expected: [
          { device: 'psu', field: 'VOLT', value: 12.1 },
          { device: 'psu', field: 'AMPERE', value: -0.25 },
        ],
      },
    ],
  },
  {
    name: 'NMEA position sentence',
    fields: { LOCATION: 'GEOLOCATION', SATELLITES: 'INTEGER' },
    serialNumbers: ['boat'],
    source: `function degrees(text, hemisphere) {
  var dot = text.indexOf(".");
  var whole = parseInt(text.substring(0, dot - 2), 10), minutes = parseFloat(text.substring(dot - 2));
  var value = whole + minutes / 60;
  return (hemisphere === "S" || hemisphere === "W" ? -value : value).toFixed(5);
}
function Decoder(request) {
  var f = request.body.split(",");
  if (!/GGA$/.test(f[0])) return null;
  return [
    { device: "boat", field: "LOCATION", value: "(" + degrees(f[2], f[3]) + ", " + degrees(f[4], f[5]) + ")" },
    { device: "boat", field: "SATELLITES", value: f[7] }
  ];
}`,
    calls: [
      {
        body: '$GPGGA,123519,4807.038,N,01131.000,W,1,08,0.9,545.4,M,46.9,M,,*47',
        expected: [
          { device: 'boat', field: 'LOCATION', value: '(48.11730, -11.51667)' },
          { device: 'boat', field: 'SATELLITES', value: '08' },
        ],
      },
      { body: '$GPRMC,1', expected: [] },
    ],
  },
  {
    name: 'line protocol with tags and nanoseconds',
    fields: { usage: 'FLOAT', up: 'BOOLEAN' },
    serialNumbers: ['server01'],
    source: `function Decoder(request) {
  return request.body.trim().split("\\n").flatMap(function (line) {
    var parts = line.split(" ");
    var tags = Object.fromEntries(parts[0].split(",").slice(1).map(function (t) { return t.split("="); }));
    return parts[1].split(",").map(function (pair) {
      var kv = pair.split("=");
      return { device: tags.host, field: kv[0], value: kv[1].replace(/i$/, ""), timestamp: Number(BigInt(parts[2]) / 1000000n) / 1000 };
    });
  });
}`,
    calls: [
      {
        body: 'cpu,host=server01,region=eu usage=0.64,up=true 1700000000123456789\n',
        expected: [
          { device: 'server01', field: 'usage', value: '0.64', timestamp: 1700000000.123 },
          { device: 'server01', field: 'up', value: 'true', timestamp: 1700000000.123 },
        ],
      },
    ],
  },
  {
    name: 'user agent tells the firmware',
    fields: { FIRMWARE: 'STRING', LENGTH: 'INTEGER' },
    serialNumbers: ['ua'],
    source: `function Decoder(request) {
  var agent = request.headers["user-agent"] || "";
  var seen = Object.keys(request.headers).indexOf("User-Agent") >= 0;
  return [
    { device: "ua", field: "FIRMWARE", value: seen ? agent.split("/")[1] : "?" },
    { device: "ua", field: "LENGTH", value: parseInt(request.headers["Content-Length"]) }
  ];
}`,
    calls: [
      {
        headers: { 'User-Agent': 'meter/2.4.1' },
        body: 'abcde',
        expected: [
          { device: 'ua', field: 'FIRMWARE', value: '2.4.1' },
          { device: 'ua', field: 'LENGTH', value: 5 },
        ],
      },
    ],
  },
];
