/** Parts of an event's data as messages show them; whatever else is there is left alone. */
export interface EventData {
  test?: boolean;
  alert?: AlertData;
  alerts?: { alert: AlertData; device?: Named; values?: unknown; reason?: string | null }[];
  count?: number;
  rule?: Named;
  device?: Named;
  product?: Named | null;
  values?: unknown;
  reason?: string | null;
  url?: string;
  identifier?: string;
  lastHeardAt?: string | null;
  call?: { error?: string | null; message?: string | null; receivedAt?: string } | null;
}

/** An alert in an event; times in ISO 8601, null: not yet. */
export interface AlertData {
  id: string;
  state: string;
  severity: string;
  startedAt: string;
  firedAt?: string | null;
  endedAt?: string | null;
}

/** Something with a name in an event. */
export interface Named {
  id?: string;
  key?: string | null;
  name: string;
  serialNumber?: string;
}

/** The body of a message, as the outbox wrote it. */
export interface EventBody {
  type: string;
  timestamp: string;
  data: EventData;
}
