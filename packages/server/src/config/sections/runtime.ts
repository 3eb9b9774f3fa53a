import {
  boolean,
  choice,
  choiceUnset,
  integer,
  integers,
  integerUnset,
  path,
  strings,
  stringUnset,
} from '../key.ts'
import { address, folderName, hostName } from '../values/formats.ts'

const backoffMs = [10, 600_000] as const

export const runtime = {
  enabled: boolean(true, "Runs the game's script."),
  require_script: boolean(false, 'Makes a script that does not run an unready node.'),
  language: choiceUnset(
    ['typescript', 'ts', 'javascript', 'js', 'lua', 'python', 'py'],
    'Language of the script; unset, the first known entry file decides.',
  ),
  tier: choice(
    'trusted',
    ['trusted', 'sandboxed'],
    'How much the script is trusted; `sandboxed` has no way out but the script API.',
  ),
  scripts_dir: path('./game', 'Folder of the script.'),
  shared_dirs: strings(
    16,
    folderName,
    'Folders beside `scripts_dir` that scripts import from too, e.g. `../common/rules.ts`.',
  ),
  deadline_ms: integer(100, [10, 5_000], 'Time that one piece of script work may compute.'),
  call_timeout_ms: integer(10_000, [100, 300_000], 'Time for a whole call, with its waiting.'),
  load_timeout_ms: integer(5_000, [100, 300_000], 'Time to load the script.'),
  tick_hz: integer(0, [0, 120], 'Ticks per second; 0 = none.'),
  tick_deadline_ms: integerUnset(
    [1, 5_000],
    'Time for one tick; unset, half the tick period, at least 1 and at most 50.',
  ),
  hot_reload: boolean(false, 'Loads the script again when its files change.'),
  hot_reload_poll_ms: integer(500, [50, 60_000], 'How often the files are looked at.'),
  hand_over_ms: integer(
    1_000,
    [0, 10_000],
    'How long a script with `on_unload` may end its calls before it hands its state over.',
  ),
  reload_drain_ms: integer(
    300_000,
    [0, 86_400_000],
    'How long rooms may go on with the script before, on a node that requires one.',
  ),
  memory_mb: integer(256, [16, 16_384], 'Memory of the script.'),
  inbox_calls: integer(8_192, [16, 1_000_000], 'Calls that may wait for the script.'),
  inbox_bytes: integer(16_777_216, [65_536, 1_073_741_824], 'Bytes of those calls.'),
  inspect: stringUnset(
    address,
    'Where a debugger attaches to the script, such as 127.0.0.1:9229; unset, nowhere.',
  ),
  restart_limit: integer(5, [1, 100], 'Failed starts in a row after which it stays down.'),
  restart_backoff_ms: integer(100, backoffMs, 'Wait before the first restart; then doubling.'),
  restart_backoff_max_ms: integer(30_000, backoffMs, 'Longest wait before a restart.'),
  outbound_http: {
    enabled: boolean(true, 'Lets the script make HTTP requests.'),
    allowed_hosts: strings(128, hostName, 'Hosts that it may call; empty = any public host.'),
    allowed_ports: integers(
      [80, 443],
      { min: 1, max: 65_535, itemsMin: 1, itemsMax: 128 },
      'Ports that it may call.',
    ),
    allow_private_networks: boolean(false, 'Lets it call addresses that are not public.'),
    max_concurrent_requests: integer(16, [1, 1_024], 'Requests at the same time.'),
    max_requests_per_minute: integer(120, [1, 1_000_000], 'Requests per minute.'),
  },
}
