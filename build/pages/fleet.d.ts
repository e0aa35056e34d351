/* The data of a fleet's page, as FleetReport writes it. A test compares the pages with it. */

interface Held {
  fleet: Fleet;
}

interface Fleet {
  schema_version: string;
  kind: string;
  headline: string;
  findings: FleetFinding[];
  totals: FleetTotals;
  problem_kinds: ProblemKind[];
  problems: Problem[];
  stragglers: Straggler[];
  shown: ShownFrom[];
  remarks: string[];
  losses: RankLosses[];
  runs: FleetRun[];
  phases: FleetPhase[];
  requests: FleetRequests[];
  bricks: FleetBrick[];
  bricks_by_phase: FleetPhaseBrick[];
  spread: SpreadOfBrick[];
  shares: RankShare[];
  drift: DriftOfBrick[];
  rank_bricks: RankBricks;
  windows: BrickWindows[];
}

interface Parts {
  compute_ns?: number;
  communication_ns?: number;
  idle_ns?: number;
}

interface FleetFinding {
  kind: string;
  place?: string;
  share: number;
  of: string;
  sentence: string;
  next?: string;
}

interface FleetTotals extends Parts {
  ranks: number;
}

interface ProblemKind {
  kind: string;
  count: number;
  left_out: number;
  example: string;
}

interface Problem {
  kind: string;
  run_id?: string;
  rank?: number;
  win?: number;
  file?: string;
  reason: string;
  left_out: number;
}

type StragglerKind = "bricks" | "throughout" | "some_windows" | "drift" | "link" | "more_work" | "not_known";

interface Straggler {
  kind: StragglerKind;
  run_id: string;
  rank?: number;
  host?: string;
  what: string;
  bricks: string[];
  longer_pct: number;
  windows: Stretch[];
  window_count: number;
  own_ns: number;
  late_ns?: number;
  cost_ns?: number;
}

/** Consecutive windows. */
type Stretch = [first: number, last: number];

interface ShownFrom {
  run_id: string;
  device?: string;
  ranks: number;
  windows: number;
  throughout_pct: number;
  least_brick_pct: number;
  most_brick_pct: number;
  slow_windows?: number;
  slow_windows_pct?: number;
}

/** The numbers of measurements that the bricks of a rank lack. */
interface RankLosses {
  run_id: string;
  rank: number;
  samples: number;
  unresolved: number;
  dropped: number;
  pending: number;
  missing_pct: number;
  windows: number;
  untested: number;
}

interface FleetRun {
  run_id: string;
  ranks: number;
  hosts: number;
  windows: number;
  start_ms: number;
  end_ms: number;
  wall_ns: number;
  dropped?: number;
  model?: string;
  precision?: string;
  commit_id?: string;
  device?: string;
  devices: number;
}

interface FleetPhase {
  phase?: string;
  steps: number;
  total_ns: number;
  wall_ns?: number;
  tokens: number;
  max_ns: number;
}

interface FleetBrick {
  category: string;
  brick: string;
  count: number;
  total_ns: number;
  min_ns: number;
  max_ns: number;
  elements: number;
  unresolved?: number;
  device_samples?: number;
  unmarked?: number;
  estimated?: boolean;
  standard_error_ns?: number;
  degrees_of_freedom?: number;
  half_interval_ns?: number;
  p50_ns?: number;
  p90_ns?: number;
  p99_ns?: number;
  p999_ns?: number;
}

/** A brick in the steps of one phase, and the rank with the longest mean of a sample there. */
interface FleetPhaseBrick extends FleetBrick {
  phase: string;
  median_rank_ns?: number;
  slowest_rank_ns?: number;
  slowest_run?: string;
  slowest_rank?: number;
}

interface SpreadOfBrick {
  category: string;
  brick: string;
  ranks: number;
  min_ns: number;
  min_run: string;
  min_rank: number;
  median_ns: number;
  max_ns: number;
  max_run: string;
  max_rank: number;
}

interface RankShare extends Parts {
  run_id: string;
  rank: number;
  host?: string;
  device?: string;
  estimated?: boolean;
}

interface DriftOfBrick {
  category: string;
  brick: string;
  ranks: number;
  first_ns: number;
  last_ns: number;
  change_ppm: number;
  risen: number;
  fallen: number;
  most_ppm: number;
  most_run: string;
  most_rank: number;
}

interface RankBricks {
  bricks: MedianOfBrick[];
  ranks: RankMeans[];
}

interface MedianOfBrick {
  category: string;
  brick: string;
  median_ns: number;
}

/** The mean time of each brick on a rank, ns; null if it did not run there. */
interface RankMeans {
  run_id: string;
  rank: number;
  mean_ns: (number | null)[];
}

/** The median time of a brick in each part of the windows, ns; null if it did not run. */
interface BrickWindows {
  category: string;
  brick: string;
  median_ns: (number | null)[];
}

/** The requests of a rank. */
interface FleetRequests {
  run_id: string;
  rank: number;
  finished: number;
  behind_prompts_ns: number;
  behind_decoding_ns: number;
  idle_ns: number;
  served_ns: number;
}
