package org.brickprofiler.export.setting;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.base.HeapReserve;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.io.OutputOwner;
import org.brickprofiler.internal.io.OwnedFile;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.WindowReaders;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.EntriesAtEnd;
import org.jspecify.annotations.Nullable;

/**
 * When the virtual machine ends, writes one merged profile of its profilers to the file that a setting names: see
 * {@link BrickProfiler#enable}. If a recorder of spans keeps the lines of bricks, the file has them, too. Failures are
 * logged. Any thread.
 */
public final class ProfileOutput extends SettingAction {

    /**
     * The maximum number of profilers that are kept until the end, so that an application that creates a profiler for
     * each request does not leak memory.
     */
    private static final int MOST_PROFILERS = 32;

    private static final byte[] FULL_HEAP =
            "BRICK_PROFILER_OUT: the heap is full; if it still is at the end, the profile may be lost\n"
                    .getBytes(US_ASCII);

    private static final byte[] LOST = "BRICK_PROFILER_OUT: the profile is lost: the heap is full\n".getBytes(US_ASCII);

    private static final Log LOG = Log.of(ProfileOutput.class);

    private final List<WindowReaders<ProfileSnapshot>.Reader> readers = new ArrayList<>();
    private final HeapReserve reserve = new HeapReserve(ProfileOutput::noteFullHeap);

    /** The profilers that were switched on, so that each one is added once. */
    private final Set<Object> known = Collections.newSetFromMap(new WeakHashMap<>());

    /** The number of profilers beyond the limit. Guarded by this, like the fields above. */
    private long left;

    /** What the recorders of the profilers add, in the order of these. */
    private final Set<EntriesAtEnd> recorders = new LinkedHashSet<>();

    private boolean opened;

    /** The file; null if it cannot be written. */
    private @Nullable OwnedFile<ProfileSnapshot> file;

    /** Creates the action, for the service loader. */
    public ProfileOutput() {
        super(OUT);
    }

    @Override
    protected synchronized void enabled(Object profiler, String setting, boolean records) {
        if (!opened) {
            opened = true;
            file = openFile(setting);
        }
        if (file != null && known.add(profiler)) {
            add((BrickProfiler) profiler);
        }
    }

    private @Nullable OwnedFile<ProfileSnapshot> openFile(String setting) {
        if (OutputOwner.isTaken()) {
            return null;
        }
        Optional<String> owner = OutputOwner.claim(ProfileOutput.class);
        if (owner.isPresent()) {
            LOG.warn(
                    "BRICK_PROFILER_OUT: {} writes the profile to '{}'; the profile lacks the samples of this copy of the library",
                    owner.get(),
                    setting);
            return null;
        }
        try {
            OptionalPart.JACKSON_CORE.require("the profile");
            OwnedFile<ProfileSnapshot> owned = OwnedFile.begin(Path.of(setting), this::writeReport, JsonReport::read);
            reserve.awaitFilled();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> writeAtEnd(owned, setting), "brick-profile-output"));
            return owned;
        } catch (IOException | InvalidPathException | IllegalStateException e) {
            LOG.warn("BRICK_PROFILER_OUT: no profile is written to '{}': {}", setting, e.getMessage());
            return null;
        }
    }

    private void add(BrickProfiler profiler) {
        if (readers.size() < MOST_PROFILERS) {
            readers.add(ProfilerAccess.windows(profiler).add(profiler::snapshot));
            if (ProfilerAccess.sink(profiler).orElse(null) instanceof EntriesAtEnd recorder) {
                recorders.add(recorder);
            }
        } else if (left++ == 0) {
            LOG.warn(
                    "BRICK_PROFILER_OUT: the profile has the first {} profilers of this process and no further ones; use one"
                            + " profiler for the whole run",
                    MOST_PROFILERS);
        }
    }

    /** Returns the merged profile of all profilers; empty if none was switched on. */
    private synchronized Optional<ProfileSnapshot> profile() {
        Optional<ProfileSnapshot> all =
                readers.stream().map(WindowReaders.Reader::whole).reduce(ProfileSnapshot::merge);
        if (left == 0) {
            return all;
        }
        List<String> remarks =
                new ArrayList<>(all.map(each -> each.facts().disturbances()).orElse(List.of()));
        remarks.add("the profile lacks " + left + " of " + (MOST_PROFILERS + left) + " profilers of the process");
        return all.map(
                each -> each.withFacts(each.facts().withMachine(each.facts().machine(), remarks)));
    }

    /** Writes the report with the further entries of the recorders, whose failure must not lose the profile. */
    private void writeReport(ProfileSnapshot profile, Path path) throws IOException {
        List<EntriesAtEnd> all;
        synchronized (this) {
            all = List.copyOf(recorders);
        }
        Map<String, Object> further = Map.of();
        List<String> remarks = new ArrayList<>(profile.facts().disturbances());
        for (EntriesAtEnd recorder : all) {
            try {
                Map<String, Object> entries = recorder.entriesAtEnd(profile);
                if (further.isEmpty()) {
                    further = entries;
                } else if (!entries.isEmpty()) {
                    remarks.add("the profile has the lines of bricks of the first recorder alone, and lacks another's");
                }
            } catch (RuntimeException | LinkageError | OutOfMemoryError lost) {
                remarks.add("the profile lacks the lines of bricks: " + lost);
            }
        }
        ProfileSnapshot remarked =
                profile.withFacts(profile.facts().withMachine(profile.facts().machine(), remarks));
        if (further.isEmpty()) {
            // Without the text in memory, of which a full heap has little.
            JsonReport.write(remarked, path);
        } else {
            JsonReport.write(remarked, further, path);
        }
    }

    private static void noteFullHeap() {
        Log.printInFullHeap(FULL_HEAP);
    }

    private void writeAtEnd(OwnedFile<ProfileSnapshot> owned, String setting) {
        try {
            if (!reserve.run(() -> write(owned, setting))) {
                Log.printInFullHeap(LOST);
            }
        } catch (IOException e) {
            LOG.error("BRICK_PROFILER_OUT: the profile is lost: {}", String.valueOf(e.getMessage()));
        } catch (RuntimeException | LinkageError e) {
            LOG.error("BRICK_PROFILER_OUT: the profile is lost: {}", e.toString());
        }
    }

    /** Writes the profile if a profiler was switched on. */
    private void write(OwnedFile<ProfileSnapshot> owned, String setting) throws IOException {
        Optional<ProfileSnapshot> profile = profile();
        if (profile.isEmpty()) {
            return;
        }
        switch (owned.write(profile.get(), written -> written.facts().isOfThisProcess())) {
            case THIS -> LOG.info("BRICK_PROFILER_OUT: the profile is in {}", setting);
            case APPLICATION -> LOG.info("BRICK_PROFILER_OUT: the application has written {} itself", setting);
            case OTHER_PROCESS ->
                LOG.warn(
                        "BRICK_PROFILER_OUT: another process has written {}; the profile of this one is in {}",
                        setting,
                        owned.besidePath());
        }
    }
}
