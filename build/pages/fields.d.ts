/* Written by FormatDocumentTest from the tables of ProfileFields, SlowStepJson and LineProfileJson. */

interface Brick {
  name: string;
  category: string;
  count: number;
  total_ns: number;
  estimated?: boolean;
  standard_error_ns?: number;
  degrees_of_freedom?: number;
  half_interval_ns?: number;
  avg_us: number;
  min_us: number;
  max_us: number;
  min_ns: number;
  max_ns: number;
  min_at_least_ns?: number;
  max_at_most_ns?: number;
  last_ns: number;
  last_at_unix_ns: number;
  net_ns?: number;
  throughput: number;
  pct: number;
  total_elements: number;
  total_bytes: number;
  total_compressed_bytes: number;
  compression_ratio: number;
  throughput_gbps: number;
  total_cycles: number;
  min_cycles: number;
  max_cycles: number;
  bottleneck: "unknown" | "memory" | "compute";
  latency?: Latency;
  device?: DeviceTime;
  work?: Work;
}

interface Latency {
  p50_us: number;
  p90_us: number;
  p99_us: number;
  p999_us: number;
  p50_at_least_us?: number;
  p50_at_most_us?: number;
  p99_at_least_us?: number;
  p99_at_most_us?: number;
  relative_error: number;
  buckets: Bucket[];
}

interface DeviceTime {
  time_source: "host" | "device" | "mixed";
  device_samples: number;
  launches: number;
  launch_ns: number;
  min_launch_ns: number;
  max_launch_ns: number;
  unresolved: number;
  without_start?: number;
  unmarked?: number;
  open_error_ns?: number;
  weight_products?: number;
  marked_samples?: number;
  marks_ns?: number;
  marks_error_ns?: number;
  short?: boolean;
}

interface Work {
  flops: number;
  bytes: number;
  working_set_bytes: number;
  work_samples?: number;
  gflops?: number;
  arithmetic_intensity?: number;
}

interface Tile {
  level: "macro" | "midi" | "micro";
  count: number;
  total_ns: number;
  avg_us: number;
  min_us: number;
  max_us: number;
  min_ns: number;
  max_ns: number;
  min_at_least_ns?: number;
  max_at_most_ns?: number;
  gflops: number;
  arithmetic_intensity: number;
  total_elements: number;
  total_flops: number;
  slowest_row: number;
  slowest_col: number;
  unresolved?: number;
}

interface Stream {
  stream: string;
  device: string;
  device_index: number;
  device_uuid?: string;
  pci_address?: string;
  samples: number;
  busy_ns: number;
  idle_ns: number;
  gaps: number;
  shortest_gap_ns: number;
  waits: number;
  clock_error_ns: number;
  failure?: string;
  estimated?: boolean;
  pass_ns?: number;
  brick_marks_ns?: number;
  mark_ns?: number;
  mark_error_ns?: number;
  net_pass_ns?: number;
  net_bricks_ns?: number;
  net_error_ns?: number;
  net_standard_error_ns?: number;
  no_net?: string;
}

interface Phase {
  phase: string;
  count: number;
  wall_ns: number;
  total_ns: number;
  min_ns: number;
  max_ns: number;
  avg_us: number;
  output_tokens_per_s: number;
  prefill_tokens_per_s: number;
  sequences: number;
  prefill_tokens: number;
  output_tokens: number;
  drafted_tokens: number;
  accepted_tokens: number;
  kv_length: number;
  cpu_steps?: number;
  cpu_wall_ns?: number;
  cpu_ns?: number;
  cpu_waited_ns?: number;
  attributed: number;
  category_ns: Record<string, number>;
  durations: Latency;
}

interface Identity {
  run_id?: string;
  rank?: number;
  world_size?: number;
  local_rank?: number;
  host?: string;
  device?: string;
  model?: string;
  precision?: string;
  commit?: string;
  phase?: string;
  first_step?: number;
  last_step?: number;
  window?: number;
}

interface Environment {
  java_version: string;
  jvm: string;
  os: string;
  arch: string;
  cpu: string;
  processors: number;
  clock_resolution_ns: number;
}

interface VirtualMachineOfRun {
  pid: number;
  started_at: string;
  up_ns: number;
  gc_ns: number;
  jit_ns: number;
}

interface Nesting {
  name: string;
  samples: number;
  lapped: number;
  within: number;
  lapped_within: number;
}

interface Spread {
  median: number;
  low: number;
  high: number;
}

interface Requests {
  arrived: number;
  waiting: number;
  running: number;
  completed: number;
  length: number;
  cancelled: number;
  failed: number;
  counted_from?: string;
  abandoned: number;
  ignored_calls: number;
  prompt_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  time_to_first_token?: Latency;
  queue_time?: Latency;
  inter_token?: Latency;
  time_per_output_token?: Latency;
  duration?: Latency;
  queued_behind_prompts_ns: number;
  queued_behind_decoding_ns: number;
  queued_idle_ns: number;
  own_prompt_ns: number;
  decode_ns: number;
  decode_beside_prompts_ns: number;
  stalled_behind_prompts_ns: number;
  stalled_behind_decoding_ns: number;
  stalled_idle_ns: number;
  delivery_ns: number;
  own_work_ns: number;
  wait_gc_ns: number;
  wait_blocked_ns: number;
  wait_throttled_ns: number;
  wait_no_processor_ns: number;
  wait_unknown_ns: number;
  wait_sources?: string;
  first_tokens: FirstTokenCauses[];
  slowest_first_tokens: RequestOfRun[];
  longest_gaps: RequestOfRun[];
  histograms: LatencyHistogram[];
  models: ModelRequests[];
  oldest_live: LiveRequest[];
}

interface RequestOfRun {
  id?: string;
  arrived_at?: string;
  trace?: string;
  model?: string;
  arrived_ns: number;
  duration_ns: number;
  time_to_first_token_ns: number;
  prompt_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  outcome: string;
  longest_gap_ns: number;
  first_to_last_token_ns: number;
  queued_behind_prompts_ns: number;
  queued_behind_decoding_ns: number;
  queued_idle_ns: number;
  own_prompt_ns: number;
  decode_ns: number;
  decode_beside_prompts_ns: number;
  stalled_behind_prompts_ns: number;
  stalled_behind_decoding_ns: number;
  stalled_idle_ns: number;
  delivery_ns: number;
  own_work_ns: number;
  wait_gc_ns: number;
  wait_blocked_ns: number;
  wait_throttled_ns: number;
  wait_no_processor_ns: number;
  wait_unknown_ns: number;
  lock?: string;
}

interface LiveRequest {
  id?: string;
  arrived_at?: string;
  trace?: string;
  model?: string;
  age_ns: number;
  running: number;
  prompt_tokens: number;
  output_tokens: number;
}

interface FirstTokenCauses {
  bucket: number;
  queued_behind_prompts_ns: number;
  queued_behind_decoding_ns: number;
  queued_idle_ns: number;
  own_prompt_ns: number;
  decode_ns: number;
  decode_beside_prompts_ns: number;
  stalled_behind_prompts_ns: number;
  stalled_behind_decoding_ns: number;
  stalled_idle_ns: number;
  delivery_ns: number;
  own_work_ns: number;
}

interface LatencyHistogram {
  outcome: string;
  latency: string;
  counts: string;
  sum_ns: number;
}

interface ModelRequests {
  model: string;
  completed: number;
  length: number;
  cancelled: number;
  failed: number;
  prompt_tokens: number;
  cached_tokens: number;
  output_tokens: number;
  histograms: LatencyHistogram[];
}

interface TimelineStep {
  start_ns: number;
  duration_ns: number;
  lane: number;
  prompts: number;
  abandoned: number;
  prefilling: number;
  decoding: number;
  prompt_tokens: number;
}

interface TimelineWork {
  request: number;
  first_step: number;
  last_step: number;
  start_ns: number;
  end_ns: number;
  own_prompt: number;
}

interface TimelineOwnWork {
  request: number;
  start_ns: number;
  end_ns: number;
}

interface SlowSteps {
  spans_kept: number;
  spans_left_out: number;
  phases: SlowPhase[];
  steps: SlowStep[];
}

interface SlowPhase {
  phase: string;
  count: number;
  kept: number;
  median_step: number;
}

interface SlowStep {
  step: number;
  phase: string;
  start_ns: number;
  started_at?: string;
  duration_ns: number;
  batch: number;
  prefill_tokens: number;
  kv_length: number;
  output_tokens: number;
  drafted_tokens: number;
  verdict: string;
  typical_ns: number;
  compared: number;
  as_long: number;
  longest_ns: number;
  sampled: number;
  sampled_kv_length: number;
  sampled_prefill_tokens: number;
  sampled_batch: number;
  unknown: string[];
  parts: SlowPart[];
  samples?: SlowSamples;
  text: string;
}

interface SlowPart {
  kind: string;
  name: string;
  excess_ns: number;
}

interface SlowSamples {
  state: string;
  in_bricks: number;
  outside: number;
  unknown: number;
  methods: SlowMethod[];
}

interface SlowMethod {
  brick: string;
  method: string;
  samples: number;
}

interface LineProfile {
  period_ns: number;
  clock_error_ns: number;
  missing?: string;
  doubt?: string;
  in_bricks: number;
  outside: number;
  other_threads: number;
  several_steps: number;
  virtual_threads: number;
  not_ended: number;
  too_late: number;
  cut_stacks: number;
  allocations_elsewhere: number;
  allocated_elsewhere: number;
  waits_elsewhere: number;
  waited_elsewhere_ns: number;
  least_wait_ns: number;
  mode?: string;
  by_frames?: ByFrames;
  text: string;
  bricks: BrickLines[];
  methods: string[];
  modes: string[];
  frame_method: number[];
  frame_line: number[];
  frame_mode: number[];
  paths: number[][];
}

interface ByFrames {
  methods: number;
  left_out: string[];
}

interface BrickLines {
  brick: string;
  phase?: string;
  samples: number;
  workers: number;
  due?: number;
  doubted: boolean;
  text?: string;
  interpreted_passes?: number;
  java?: CallTree;
  natives?: CallTree;
  allocated?: BrickAmounts;
  waited?: BrickAmounts;
}

interface CallTree {
  parent: number[];
  frame: number[];
  self: number[];
  independent?: number;
  degrees?: number;
  methods: LineShares;
  lines: LineShares;
  paths: LineShares;
}

interface LineShares {
  place: number[];
  samples: number[];
  share: number[];
  low: number[];
  high: number[];
}

interface BrickAmounts {
  events: number;
  sum: number;
  places: string[];
  parts: number[];
}
