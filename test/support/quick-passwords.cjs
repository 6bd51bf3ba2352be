// Loaded before a server of the tests: a password costs it next to nothing, where the server hashes it for a second.
const crypto = require('node:crypto');

const { scrypt } = crypto;
crypto.scrypt = (password, salt, length, options, done) =>
  scrypt(password, salt, length, { ...options, N: 2, p: 1 }, done);
