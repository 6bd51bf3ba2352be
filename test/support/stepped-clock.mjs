// Loaded before a server of the tests and its threads: their clock is off by as many ms as the file says.
import { readFileSync } from 'node:fs';

const real = Date.now;
Date.now = () => real() + Number(readFileSync(process.env.CLOCK_FILE, 'latin1'));
