import { FieldResolver, Resolver, Root } from 'type-graphql';
import type { LoggedCall } from '../../../domain/calls/logged-call.ts';
import { ShownJson } from '../../context/shown-json.ts';
import { Json } from '../../types/json.ts';
import { WebhookCallObject } from '../../types/webhook-call.ts';

/** Parts of a call that are kept as JSON: parsed where the answer is written. */
@Resolver(() => WebhookCallObject)
export class WebhookCallResolver {
  @FieldResolver(() => Json, { description: 'The query: an object of names to lists of texts.' })
  query(@Root() call: LoggedCall): unknown {
    return new ShownJson(call.queryText, (query) => call.shown(query));
  }

  @FieldResolver(() => Json, { description: 'The headers: an object of names to texts, credentials masked.' })
  headers(@Root() call: LoggedCall): unknown {
    return new ShownJson(call.headersText, (headers) => call.shown(headers));
  }
}
