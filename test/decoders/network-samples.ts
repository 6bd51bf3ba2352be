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
      {
        gateway_ids: { gateway_id: 'gw-1', eui: '9C5C8E00001A05C4' },
        rssi: -35,
        channel_rssi: -35,
        snr: 5.2,
        time: '2026-02-12T15:15:46.700Z',
        channel_index: 2,
      },
    ],
    settings: {
      data_rate: { lora: { bandwidth: 125000, spreading_factor: 7, coding_rate: '4/5' } },
      frequency: '868300000',
    },
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

/** As ChirpStack v3 sends it: EUIs in base64, the decoded object as text. */
export const CHIRPSTACK_V3_UPLINK = {
  applicationID: '1',
  applicationName: 'app',
  deviceName: 'sensor',
  devEUI: 'JOEkEosBI0U=',
  rxInfo: [
    { gatewayID: 'ABbAAfFToUw=', time: '2026-05-01T10:00:00Z', channel: 2, rssi: -57, loRaSNR: 10, location: null },
  ],
  txInfo: {
    frequency: 868100000,
    modulation: 'LORA',
    loRaModulationInfo: { bandwidth: 125, spreadingFactor: 7, codeRate: '4/5', polarizationInversion: false },
  },
  adr: true,
  dr: 5,
  fCnt: 7,
  fPort: 85,
  data: 'A2fcAA==',
  objectJSON: '{"temperature":22}',
  tags: {},
};

/** As the server built into Milesight's gateways forwards data. */
export const MILESIGHT_UPLINK = {
  applicationID: '1',
  applicationName: 'cloud',
  data: 'A2fqAARoTwUAAA==',
  devEUI: '24e124136b502217',
  deviceName: 'EM300-TH',
  fCnt: 128,
  fPort: 85,
  rxInfo: [
    {
      altitude: 0,
      latitude: 0,
      loRaSNR: 13.8,
      longitude: 0,
      mac: '24e124fffef54092',
      name: 'Local Gateway',
      rssi: -51,
    },
  ],
  time: '2026-12-27T07:21:27.078763Z',
  txInfo: {
    adr: true,
    codeRate: '4/5',
    dataRate: { bandwidth: 125, modulation: 'LORA', spreadFactor: 7 },
    frequency: 868100000,
  },
};

/** As ThingPark sends it, numbers as text. */
export const ACTILITY_UPLINK = {
  DevEUI_uplink: {
    Time: '2026-10-03T15:38:46.882+02:00',
    DevEUI: '0018B20000000B20',
    FPort: '1',
    FCntUp: '1174',
    payload_hex: '9e1c48',
    LrrRSSI: '-80.000000',
    LrrSNR: '7.000000',
    SpFact: '7',
    Channel: 'LC6',
    Lrrid: '004A18E3',
    Lrrs: { Lrr: [{ Lrrid: '004A18E3', Chain: '0', LrrRSSI: '-80.000000', LrrSNR: '7.000000' }] },
    Frequency: 868.1,
  },
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
      frequency: 904.3,
      channel: 3,
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

/** As LORIOT sends it, with what each gateway heard. */
export const LORIOT_UPLINK = {
  cmd: 'gw',
  seqno: 2021,
  EUI: '0011223344556601',
  ts: 1_780_000_000_123,
  fcnt: 61,
  port: 4,
  freq: 868_300_000,
  toa: 61,
  dr: 'SF9 BW125 4/5',
  ack: false,
  bat: 254,
  data: '0102ff',
  gws: [{ rssi: -91, snr: 8, ts: 1_780_000_000_120, time: '2026-05-28T20:26:40.100Z', gweui: '0016C001F0000001' }],
};

/** As Netmore sends it: the only one of a list, numbers as texts. */
export const NETMORE_UPLINK = [
  {
    devEui: '0011223344556602',
    sensorType: 'some sensor',
    messageType: 'payload',
    timestamp: '2026-05-28T20:26:40.123Z',
    payload: '0102ff',
    fCntUp: '62',
    toa: null,
    freq: 868_500_000,
    batteryLevel: '254',
    ack: false,
    spreadingFactor: '10',
    rssi: '-105',
    snr: '4.8',
    gatewayIdentifier: '163',
    fPort: '5',
  },
];

/** As Kerlink's Wanesy Management Center pushes it. */
export const KERLINK_UPLINK = {
  id: '5e32e86922697b0001e828d5',
  endDevice: { devEui: '0011223344556603', devAddr: '020DEA52', cluster: { id: 7 } },
  fPort: 3,
  fCntDown: 1,
  fCntUp: 63,
  adr: true,
  confirmed: true,
  encrypted: false,
  payload: '0102ff',
  encodingType: 'HEXA',
  recvTime: 1_780_000_000_123,
  classB: false,
  delayed: false,
  ulFrequency: 868.1,
  modulation: 'LORA',
  dataRate: 'SF9BW125',
  codingRate: '4/5',
  gwCnt: 1,
  gwInfo: [{ gwEui: '7276FF0000000001', rfRegion: 'EU868', rssi: -40, snr: 12.2, channel: 5 }],
};

/** As it is copied from the live data of The Things Stack's console. */
export const TTI_CONSOLE_EVENT = {
  name: 'as.up.data.forward',
  time: '2026-02-12T15:15:47.100Z',
  identifiers: [{ device_ids: TTI_UPLINK.end_device_ids }],
  data: { '@type': 'type.googleapis.com/ttn.lorawan.v3.ApplicationUp', ...TTI_UPLINK },
  correlation_ids: ['as:up:01'],
  origin: 'as-0',
  unique_id: '01HXYZ',
};
