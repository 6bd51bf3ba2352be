/** Where the ground of maps comes from. Comments are rows in docs/operating.md, as those of `Config`. */
export interface MapTileSettings {
  /**
   * `MAP_TILES_URL` (none): A tile server whose pictures lie under the console's maps, such as
   * `https://tiles.example.org/{z}/{x}/{y}.png?key=…` (Web Mercator). The server alone asks it, at whatever address; none:
   * maps have a grid.
   */
  readonly url: string;
  /** `MAP_TILES_ATTRIBUTION` (none): What the maps say of their ground, such as `© OpenStreetMap contributors`. */
  readonly attribution: string;
}

const MAX_ATTRIBUTION = 200;
const SLOTS = ['{z}', '{x}', '{y}'];

/** Reads the settings of map tiles; adds what is wrong to `mistakes`. null: there are no tiles. */
export function readMapTiles(
  text: (name: string) => string | null,
  isUrl: (value: string, protocols: string[]) => boolean,
  mistakes: string[],
): MapTileSettings | null {
  const url = text('MAP_TILES_URL');
  const attribution = text('MAP_TILES_ATTRIBUTION') ?? '';
  if (attribution.length > MAX_ATTRIBUTION)
    mistakes.push(`MAP_TILES_ATTRIBUTION: expected at most ${MAX_ATTRIBUTION} characters.`);
  if (url === null) return null;
  const isTemplate = SLOTS.every((slot) => url.split(slot).length === 2);
  // The value may hold a key: name the setting only.
  if (!isTemplate || !isUrl(url.replaceAll(/[{}]/g, ''), ['http:', 'https:']))
    mistakes.push(
      'MAP_TILES_URL: expected a URL with {z}, {x} and {y}, such as https://tiles.example.org/{z}/{x}/{y}.png.',
    );
  return { url, attribution };
}
