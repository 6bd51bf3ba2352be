import { expect, test } from 'vitest';
import { argumentsText, operationText, placeOf } from './audit-words.ts';

test('an operation is said in words, with its plain arguments', () => {
  expect(operationText('updateDevice')).toBe('Update device');
  expect(argumentsText({ id: 'x', input: { name: 'Hall', plan: null, tags: ['a', 'b'], productIds: ['y'] } })).toBe(
    'name: Hall, tags: a, b',
  );
  expect(argumentsText({ devices: [{ name: 'one' }, { name: 'two' }] })).toBe('devices: 2');
  expect(argumentsText('cut off')).toBe('cut off');
  expect(argumentsText({ a: 1, b: 2, c: 3, d: 4, e: 5 })).toBe('a: 1, b: 2, c: 3, d: 4 …');
});

test('an entry leads to what it changed, where that has a page', () => {
  const place = (operation: string, given: unknown = {}, subjects: string[] = ['s']): string | null =>
    placeOf({ operation, subjects, arguments: given });
  expect(place('updateDevice')).toBe('/devices/s');
  expect(place('setConfiguration', { deviceId: 'd' })).toBe('/devices/d');
  expect(place('cloneProduct', { id: 'p' })).toBe('/products/s');
  expect(place('addField', { productId: 'p' })).toBe('/products/p');
  expect(place('retryDeliveries', { endpointId: 'e' })).toBe('/endpoints/e');
  expect(place('createToken')).toBe('/access');
  expect(place('deleteWorkspace')).toBeNull();
  expect(place('deleteDevices', { ids: ['d'] })).toBeNull();
});
