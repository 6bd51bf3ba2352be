/** Messages of the shapes that the networks' documentation describes, values our own. */

export const TTI_UPLINK = {
  end_device_ids: {
    device_id: 'dev1',
    application_ids: { application_id: 'app1' },
    dev_eui: '0004A30B001C0530',
    join_eui: '800000000000000C',
    dev_addr: '00BCB929',
  },
  correlation_ids: ['as:up:01'],
  received_at: '2026-02-12T15:15:47.000Z',
  uplink_message: {
    session_key_id: 'AXA50tHUHUucpzKwfk0xQQ==',
    f_port: 2,
    f_cnt: 42,
    frm_payload: 'AQL/',
    decoded_payload: { temperature: 21.5 },
    rx_metadata: [
      { gateway_ids: { gateway_id: 'gw-1', eui: '9C5C8E00001A05C4' }, rssi: -35, channel_rssi: -35, snr: 5.2 },
    ],
    settings: { data_rate: { lora: { bandwidth: 125000, spreading_factor: 7 } }, frequency: '868300000' },
    received_at: '2026-02-12T15:15:46.787826789Z',
  },
};

export const CHIRPSTACK_UPLINK = {
  deduplicationId: '57433366-50a6-4dc2-8145-2df1bbc70d9e',
  time: '2026-05-01T10:00:00.123456+00:00',
  deviceInfo: {
    tenantId: '52f14cd4-c6f1-4fbd-8f87-4025e1d49242',
    applicationName: 'app',
    deviceName: 'sensor',
    devEui: '24e124128b012345',
    tags: {},
  },
  devAddr: '00bcb929',
  dr: 3,
  fCnt: 7,
  fPort: 85,
  data: 'A2fcAA==',
  object: { temperature: 22 },
  rxInfo: [{ gatewayId: '0016c001f153a14c', uplinkId: 4217106255, rssi: -57, snr: 10 }],
  txInfo: { frequency: 868100000, modulation: { lora: { bandwidth: 125000, spreadingFactor: 9, codeRate: 'CR_4_5' } } },
};

export const HELIUM_UPLINK = {
  app_eui: '6948A4B59F4666AD',
  dev_eui: '1C29FBD1D2084E21',
  devaddr: 'B5A44869',
  fcnt: 19,
  hotspots: [
    {
      id: 'hotspot-a',
      name: 'one-two-three',
      reported_at: 1_778_000_000_123,
      rssi: -54,
      snr: 9.5,
      spreading: 'SF9BW125',
    },
    { id: 'hotspot-b', name: 'four-five-six', spreading: 'SF9BW125' },
  ],
  id: '7c523974-4ce7-4a92-948b-55171a6e4d77',
  decoded: { status: 'success', payload: { battery: 3.3 } },
  name: 'tracker',
  payload: 'SGk=',
  port: 1,
  reported_at: 1_778_000_000_123,
};

export const PARTICLE_EVENT = {
  event: 'readings',
  data: '{"temp":20.5}',
  published_at: '2026-03-04T05:06:07.089Z',
  coreid: 'e00fce68aabbccddeeff0011',
};
