import type { Chance } from './chance.ts';

/** Something like a network's message. */
export function uplink(chance: Chance): unknown {
  const odd = (value: unknown): unknown => (chance.of(0.15) ? chance.json(2) : value);
  const bytes = chance.pick(['AQID', '', '****', 'AA==']);
  const eui = odd(chance.pick(['70B3D57ED0000001', '70-b3-d5', 'serial-1', '']));
  const time = odd(chance.pick(['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789Z', 'never']));
  return chance.pick([
    { end_device_ids: odd({ dev_eui: eui }), received_at: time, uplink_message: odd({ f_port: odd(1), frm_payload: odd(bytes), decoded_payload: odd({ temperature: odd(1) }), rx_metadata: odd([{ rssi: odd(-1), snr: odd(1) }]), settings: odd({ frequency: odd('868100000') }) }) },
    { deviceInfo: odd({ devEui: eui }), data: odd(bytes), fPort: odd(1), time, object: odd({ temperature: odd(2) }), rxInfo: odd([{}]), txInfo: odd({}) },
    { dev_eui: eui, payload: odd(bytes), port: odd(1), reported_at: odd(1767225600000), decoded: odd({ payload: odd({ temperature: 3 }) }), hotspots: odd([{}]) },
    { coreid: eui, data: odd(chance.pick(['1', '{"temperature":1}', 'x'])), event: odd('e'), published_at: time },
    { DevEUI_uplink: odd({ DevEUI: eui, payload_hex: odd('0102'), FPort: odd('1'), Time: time }) },
    chance.json(),
  ]); // oxfmt-ignore
}
