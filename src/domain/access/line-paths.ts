/** Paths that senders of InfluxDB's line protocol know; rows as in `PATHS`. */
export const LINE_PATHS = {
  '/write': { methods: ['POST'], needs: ['RECORD'] },
  '/api/v2/write': { methods: ['POST'], needs: ['RECORD'] },
  '/query': { methods: ['GET', 'POST'], needs: ['RECORD'] },
  '/ping': { methods: ['GET', 'HEAD'], needs: 'everybody' },
  '/health': { methods: ['GET', 'HEAD'], needs: 'everybody' },
} as const;
