import { Type } from '@mikro-orm/core';

/** Tags as one text, each between line breaks: "every one of these tags" is then the same LIKE on both databases. */
export class TagListType extends Type<string[], string> {
  override convertToDatabaseValue(tags: string[]): string {
    return tags.length === 0 ? '' : `\n${tags.join('\n')}\n`;
  }

  override convertToJSValue(text: string): string[] {
    return text === '' ? [] : text.slice(1, -1).split('\n');
  }

  override getColumnType(): string {
    return 'text';
  }

  override compareAsType(): string {
    return 'string';
  }
}
