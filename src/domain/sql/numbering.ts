/** Numbers objects: each keeps a number of its own for as long as it lives. */
export function numbering(): (object: object) => number {
  const numbers = new WeakMap<object, number>();
  let last = 0;
  return (object) => {
    let number = numbers.get(object);
    if (number === undefined) numbers.set(object, (number = last += 1));
    return number;
  };
}
