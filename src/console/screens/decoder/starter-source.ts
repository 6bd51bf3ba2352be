import type { DeviceType } from '../../api/schema-types.ts';

const STARTERS: Record<DeviceType, string> = {
  API: `function Decoder(request) {
  var body = JSON.parse(request.body);
  return [{ device: body.device, field: 'temperature', value: body.temperature }];
}
`,
  LORAWAN: `function decodeUplink(input) {
  var bytes = input.bytes;
  return { data: { temperature: ((bytes[0] << 8) | bytes[1]) / 10 } };
}
`,
  PARTICLE: `function Decoder(payload, event) {
  return JSON.parse(payload);
}
`,
};

/** The first source of a product without a decoder. */
export function starterSource(deviceType: DeviceType): string {
  return STARTERS[deviceType];
}
