import { useTitle } from '../../navigation/use-title.ts';

/** The devices of the workspace. */
export function DevicesScreen() {
  useTitle('Devices');
  return (
    <main class="page">
      <h1>Devices</h1>
    </main>
  );
}
