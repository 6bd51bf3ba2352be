import type { TestServer } from '../support/server.ts';
import { createMember } from '../support/tenant.ts';

type Random = () => number;

const TEXTS = [
  'plain',
  'yes',
  'null',
  '~',
  '0x1f',
  '1.0',
  '- item',
  'a: b # c',
  '#',
  ' both ends ',
  '"quoted"',
  "it's",
  'tab\there',
  'Größe °C',
  '😀',
  'line\u2028line',
  'next\u0085line',
  '\ufeffmark',
  '|',
  '>',
  '*alias',
  '&anchor',
  '!tag',
  '%',
  '2026-01-01',
  '__proto__',
  '.inf',
  '1e3',
];
const LONG = [
  'one\ntwo',
  'ends\n',
  '\n\nbegins',
  '  indented\nless',
  'trailing  \nblanks \n\n',
  'cr\r\nlf\r\n',
  '\ttab\n\t\n',
  `${'long '.repeat(60)}end`,
];

interface Made {
  id: string;
  key: string | null;
  fields: { id: string; identifier: string; type: string }[];
  /** Ids of fields that rules watch: they are not removed. */
  watched: Set<string>;
  deviceId: string;
}

/** Makes something of everything in a workspace, through the mutations that people use. */
export class RandomConfiguration {
  readonly #server: TestServer;
  readonly #workspaceId: string;
  readonly #random: Random;
  readonly #products: Made[] = [];
  #made = 0;

  constructor(server: TestServer, workspaceId: string, random: Random) {
    this.#server = server;
    this.#workspaceId = workspaceId;
    this.#random = random;
  }

  async make(products: number): Promise<void> {
    for (let at = 0; at < products; at += 1) await this.#product();
    for (let at = this.#upTo(4); at > 0; at -= 1) await this.#token();
    for (let at = this.#upTo(4); at > 0; at -= 1) await this.#endpoint();
    for (let at = this.#upTo(4); at > 0; at -= 1) await this.#dashboardOfWorkspace();
    if (this.#chance(0.5))
      await createMember(this.#server, this.#workspaceId, this.#one(['VIEWER', 'EDITOR', 'ADMIN']));
  }

  /** Changes some of what is there, as other hands would. */
  async change(times: number): Promise<void> {
    for (let at = 0; at < times; at += 1) {
      const { id, fields, watched } = this.#one(this.#products);
      const kind = this.#upTo(8);
      const free = fields.filter((field) => !watched.has(field.id));
      if (kind === 6) await this.#endpoint();
      else if (kind === 7) await this.#dashboardOfWorkspace();
      else if (kind === 0)
        await this.#do('updateProduct($id: ID!, $input: UpdateProductInput!)', {
          id,
          input: { offlineAfterSeconds: 1 + this.#upTo(9_999), dashboard: this.#dashboard() },
        });
      else if (kind === 1) {
        const added = await this.#do('addField($productId: ID!, $input: FieldInput!) { id identifier type }', {
          productId: id,
          input: this.#field(),
        });
        fields.push(added);
      } else if (kind === 2 && fields.length > 0)
        await this.#do('updateField($id: ID!, $input: UpdateFieldInput!)', {
          id: this.#one(fields).id,
          input: { unit: this.#text(), description: this.#long() },
        });
      else if (kind === 3 && fields.length > 0 && this.#chance(0.5)) {
        const identifier = this.#identifier();
        const renamed = this.#one(fields);
        await this.#do('renameField($id: ID!, $identifier: String!) { id }', { id: renamed.id, identifier });
        renamed.identifier = identifier;
      } else if (kind === 3 && free.length > 0) {
        const gone = this.#one(free);
        fields.splice(fields.indexOf(gone), 1);
        await this.#do('removeField($id: ID!)', { id: gone.id });
      } else if (kind === 5) await this.#rule({ id, fields, watched });
      else await this.#do('saveDecoder($productId: ID!, $source: String!)', { productId: id, source: this.#source() });
    }
  }

  async #product(): Promise<void> {
    this.#made += 1;
    const key = this.#chance(0.6) ? `product-${this.#made}` : null;
    const withDecoder = this.#chance(0.6);
    const product = await this.#do('createProduct($input: CreateProductInput!) { id fields { id identifier type } }', {
      input: {
        workspaceId: this.#workspaceId,
        // Some have one name.
        name: this.#chance(0.3) ? 'the same' : this.#line(),
        key,
        deviceType: this.#one(['API', 'API', 'LORAWAN', 'PARTICLE']),
        dashboard: this.#chance(0.5) ? this.#dashboard() : null,
        fields: Array.from({ length: this.#upTo(6) }, () => this.#field()),
        decoder: withDecoder ? this.#source() : null,
        offlineAfterSeconds: this.#chance(0.5) ? 60 : null,
        ignoreZeroPlaces: this.#chance(0.5),
        timeZone: this.#chance(0.5) ? 'Europe/Berlin' : null,
        answer200: this.#chance(0.5),
        webhookAnswer: this.#chance(0.5) ? { status: 200 + this.#upTo(4), body: this.#text() } : null,
      },
    });
    if (this.#chance(0.4))
      await this.#do('setWriteRate($productId: ID, $perSecond: Float)', {
        productId: product.id,
        perSecond: this.#one([0, 0.25, 3]),
      });
    for (let at = withDecoder ? this.#upTo(3) : 0; at > 0; at -= 1) await this.#example(product.id, at);
    const devices = await this.#do('createDevices($productId: ID!, $devices: [DeviceInput!]!, $plan: String) { id }', {
      productId: product.id,
      plan: 'unlimited',
      devices: [
        {
          name: this.#line(),
          serialNumber: `sn ${this.#line()}`.replace(/\ufeff/g, '').trim(),
          tags: this.#chance(0.5) ? ['b', 'a', `t ${this.#text()}`] : [],
          metadata: this.#chance(0.5) ? { z: [this.#long()], a: null } : null,
          location: this.#maybe(),
        },
      ],
    });
    for (let at = this.#upTo(3); at > 0; at -= 1) await this.#configurationField(product.id, devices[0].id);
    const made = { ...product, key, watched: new Set<string>(), deviceId: devices[0].id };
    this.#products.push(made);
    for (let at = this.#upTo(4); at > 0; at -= 1) await this.#rule(made);
  }

  /** A rule of every kind. Some have one name. */
  async #rule({ id, fields, watched }: Pick<Made, 'id' | 'fields' | 'watched'>): Promise<void> {
    const conditions = Array.from({ length: 1 + this.#upTo(2) }, () => {
      const field = fields.length === 0 || this.#chance(0.2) ? null : this.#one(fields);
      if (field === null) return { absentSeconds: 1 + this.#upTo(5_000) };
      watched.add(field.id);
      return { field: field.identifier, ...this.#watch(field.type) };
    });
    this.#made += 1;
    await this.#do('createRule($productId: ID!, $input: RuleInput!) { id }', {
      productId: id,
      input: {
        name: this.#chance(0.4) ? 'the same' : this.#line(),
        key: this.#chance(0.5) ? `rule-${this.#made}` : null,
        enabled: this.#chance(0.8),
        tags: this.#chance(0.3) ? ['b', 'a', `t ${this.#text()}`] : null,
        levels: [{ severity: this.#one(['INFO', 'CRITICAL']), [this.#one(['all', 'any'])]: conditions }],
        forSeconds: this.#one([null, 0, 0.5, 600]),
        clearForSeconds: this.#one([null, 60]),
        latched: this.#chance(0.3),
        schedule: this.#chance(0.3)
          ? { days: this.#chance(0.5) ? ['SUN', 'MON'] : null, hours: '22:00-06:00', timeZone: 'Europe/Berlin' }
          : null,
      },
    });
  }

  #watch(type: string): Record<string, unknown> {
    if (this.#chance(0.2)) return { absentSeconds: 60 };
    if (type === 'GEOLOCATION')
      return this.#chance(0.5)
        ? { operator: 'INSIDE', circle: { center: '52.5,13.4', meters: 100 } }
        : { operator: 'OUTSIDE', polygon: ['(0,0)', '(0,1)', '(1.5,1)', '(0,0)'] };
    if (type === 'STRING')
      return this.#chance(0.5)
        ? { from: this.#text(), to: 'somewhere else' }
        : { operator: 'CONTAINS', value: this.#text() };
    if (type === 'BOOLEAN') return this.#chance(0.5) ? { to: 'on' } : { operator: 'EQ', value: 0 };
    const window = this.#chance(0.4) ? { aggregation: 'AVG', seconds: 300 } : null;
    return { operator: 'GT', value: this.#one([0, 30, '31.5']), clear: this.#one([null, -1e-7]), window };
  }

  /** Every source answers what a header says. */
  #example(productId: string, at: number): Promise<unknown> {
    const expected = [{ field: 'F', value: this.#one([1, -0.5, 'text', true, [1, { b: 2, a: 1 }]]) }];
    return this.#do(
      'addDecoderExample($productId: ID!, $name: String!, $request: DecoderRequestInput!, $expected: JSON!) { id }',
      {
        productId,
        name: `${this.#line()} ${at}`,
        request: { body: this.#long(), headers: { 'X-B': 'b', 'X-Answer': JSON.stringify(expected) } },
        expected,
      },
    );
  }

  async #configurationField(productId: string, deviceId: string): Promise<void> {
    const [type, value] = this.#one<[string, unknown]>([
      ['NUMBER', this.#one([0, 5, -1.5e-7, 1e21])],
      ['STRING', this.#one(TEXTS)],
      ['BOOLEAN', this.#chance(0.5)],
    ]);
    const identifier = this.#identifier();
    await this.#do('addConfigurationField($productId: ID!, $input: ConfigurationFieldInput!) { id }', {
      productId,
      input: {
        identifier,
        type,
        name: this.#maybe(),
        description: this.#long(),
        default: this.#chance(0.7) ? value : null,
      },
    });
    if (this.#chance(0.5))
      await this.#do('setConfiguration($deviceId: ID!, $values: JSON!) { id }', {
        deviceId,
        values: { [identifier]: value },
      });
  }

  async #token(): Promise<void> {
    const scopes = ['RECORD', 'READ', 'CONFIGURE', 'ADMIN'].filter((_, at) => at === 0 || this.#chance(0.4));
    const isNarrow = !scopes.includes('CONFIGURE') && !scopes.includes('ADMIN');
    const some = this.#products.filter(() => this.#chance(0.4));
    await this.#do('createToken($input: CreateTokenInput!) { secret }', {
      input: {
        workspaceId: this.#workspaceId,
        kind: 'INDIVIDUAL',
        name: this.#chance(0.3) ? 'the same' : this.#line(),
        scopes,
        productIds: some.length > 0 && this.#chance(0.5) ? some.map(({ id }) => id) : null,
        deviceIds: some.length > 0 && this.#chance(0.5) ? some.map(({ deviceId }) => deviceId) : null,
        fields: isNarrow && this.#chance(0.5) ? ['T', 'A', 'not-there'] : null,
        expiresAt: this.#chance(0.4) ? '2099-05-06T07:08:09.123Z' : null,
      },
    });
  }

  /** The server must be able to send mails. */
  async #endpoint(): Promise<void> {
    this.#made += 1;
    const kind = this.#one(['WEBHOOK', 'EMAIL', 'ALERTMANAGER']);
    const events = ['device.offline', 'alert.resolved', 'call.failed', 'alert.fired'].filter(
      (event) => this.#chance(0.5) && (kind !== 'ALERTMANAGER' || event.startsWith('alert.')),
    );
    const some = this.#products.filter(() => this.#chance(0.4));
    await this.#do('createEndpoint($workspaceId: ID, $input: EndpointInput!) { secret }', {
      workspaceId: this.#workspaceId,
      input: {
        key: this.#chance(0.5) ? `endpoint-${this.#made}` : null,
        name: this.#chance(0.3) ? 'the same' : this.#line(),
        kind,
        url:
          kind === 'EMAIL'
            ? null
            : this.#one(['http://Example.org', 'https://example.org:8443/ü?a=1&b', 'http://[::1]/']),
        addresses: kind === 'EMAIL' ? ['Ada@example.org', 'bob@example.org'] : null,
        events,
        productIds: some.length > 0 && this.#chance(0.5) ? some.map(({ id }) => id) : null,
        tags: this.#chance(0.4) ? [this.#line(), 'cold'] : null,
        enabled: this.#chance(0.7),
      },
    });
  }

  /** Over devices, a product, tags, and what is not there. */
  async #dashboardOfWorkspace(): Promise<void> {
    this.#made += 1;
    const { id, deviceId } = this.#one(this.#products);
    const sources = [{ productId: id }, { deviceIds: [deviceId, deviceId.toUpperCase()] }, { tags: ['b', 'a', 'b'] }];
    const { widgets } = this.#dashboard() as { widgets: { kind: string }[] };
    await this.#do('saveDashboard($workspaceId: ID, $name: String!, $widgets: JSON!, $key: String) { id }', {
      workspaceId: this.#workspaceId,
      name: this.#chance(0.3) ? 'the same' : this.#line(),
      key: this.#chance(0.5) ? `dashboard-${this.#made}` : null,
      widgets: widgets.map((widget) => (widget.kind === 'text' ? widget : { ...widget, source: this.#one(sources) })),
    });
  }

  #field(): Record<string, unknown> {
    const type = this.#one(['FLOAT', 'INTEGER', 'BOOLEAN', 'STRING', 'GEOLOCATION']);
    const isNumber = type === 'FLOAT' || type === 'INTEGER';
    const meaning = this.#one(isNumber ? ['GAUGE', 'COUNTER', 'TOTAL', 'ANGLE', 'STATE'] : ['GAUGE', 'STATE']);
    return {
      identifier: this.#identifier(),
      type,
      name: this.#maybe(),
      unit: this.#maybe(),
      description: this.#chance(0.5) ? this.#long() : null,
      meaning,
      overflowAt: meaning === 'COUNTER' && this.#chance(0.5) ? this.#one([65_536, 0.1, 4_294_967_296]) : null,
      display: this.#chance(0.5) ? this.#display(type) : null,
    };
  }

  #display(type: string): unknown {
    const values: Record<string, unknown[]> = { BOOLEAN: [true, false], STRING: ['', 'on the way'], GEOLOCATION: [] };
    const words = (values[type] ?? [-1, 0, 7]).map((value) => ({
      value,
      color: 'red',
      text: this.#line().slice(0, 8).trim() || 'x',
    }));
    const numbers = { low: this.#one([-4.5, 0, null]), high: this.#one([7, 1e9]), decimals: this.#upTo(3) };
    return { ...(words.length > 0 && this.#chance(0.5) ? { words } : {}), ...(type in values ? {} : numbers) };
  }

  #dashboard(): unknown {
    return {
      widgets: Array.from({ length: this.#upTo(3) }, () => ({
        place: { y: 0, x: this.#upTo(5), height: 2, width: 3 },
        kind: this.#one(['line', 'value', 'map']),
        fields: ['T', 'unknown'],
        ...(this.#chance(0.5) ? { title: this.#line(), options: { z: [1, null], a: { nested: this.#long() } } } : {}),
      })),
    };
  }

  #source(): string {
    const comment = `// ${this.#line().replace(/[\u2028\u2029]/, '')}${' '.repeat(this.#upTo(3))}`;
    const answer = "return JSON.parse(request.headers['X-Answer'] || '[]');";
    return `function Decoder(request) {\r\n\t${comment}\n  ${answer}\n}${this.#one(['', '\n', '\n\n', '  '])}`;
  }

  #identifier(): string {
    this.#made += 1;
    return `${this.#one(['F', 'null', 'yes', '0', '-', '__proto__', '1e5'])}_${this.#made}`;
  }

  #text(): string {
    return this.#one(TEXTS);
  }

  /** A name: on one line, and not only blanks. */
  #line(): string {
    return `${this.#one(TEXTS)}${this.#chance(0.5) ? '' : this.#upTo(1_000)}`;
  }

  #maybe(): string | null {
    return this.#chance(0.5) ? this.#one(TEXTS) : null;
  }

  #long(): string {
    return this.#one([...TEXTS, ...LONG]);
  }

  #chance(part: number): boolean {
    return this.#random() < part;
  }

  #upTo(most: number): number {
    return Math.floor(this.#random() * most);
  }

  #one<T>(of: readonly T[]): T {
    return of[this.#upTo(of.length)]!;
  }

  /** `operation($name: Type, …)`, perhaps with what it is asked for. */
  async #do(operation: string, variables: Record<string, unknown>): Promise<any> {
    const [, name, types, asked] = /^(\w+)\(([^)]*)\)(.*)$/s.exec(operation)!;
    const given = Object.keys(variables).map((key) => `${key}: $${key}`);
    const isObject = ['updateProduct', 'updateField'].includes(name!);
    const fields = name === 'saveDecoder' ? '{ version }' : isObject ? '{ id }' : asked;
    const query = `mutation (${types}) { ${name}(${given.join(', ')}) ${fields} }`;
    return (await this.#server.gql(query, variables))[name!];
  }
}
