package org.brickprofiler;

import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.internal.io.FileFormat;
import org.brickprofiler.internal.io.HeapReserve;
import org.brickprofiler.internal.io.OutputOwner;
import org.brickprofiler.internal.io.OwnedFile;
import org.brickprofiler.internal.io.Settings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one profile of all profilers of the virtual machine when it ends, to the file that a setting names: see
 * {@link BrickProfiler#enable}. Faults are logged: a profiler must not keep its host from starting or ending. Any
 * thread.
 */
final class ProfileOutput {

    /** So many profilers are kept until the end; an application that makes one for each request must not leak them. */
    private static final int MOST_PROFILERS = 32;

    private static final int ATTEMPTS = 5;
    private static final long RETRY_MS = 200;

    private static final @Nullable String SETTING = Settings.ofProfiler("out");
    private static final @Nullable ProfileOutput OF_PROCESS = SETTING == null ? null : open(SETTING);

    /** Made at the start: in a full heap no class can be initialised. */
    private final Logger log = LoggerFactory.getLogger(ProfileOutput.class);

    private final OwnedFile<ProfileSnapshot> file;
    private final List<WindowReaders.Reader> profilers = new ArrayList<>();
    private final HeapReserve reserve = new HeapReserve(this::noteFullHeap);

    /** Profilers beyond the bound. Guarded by this. */
    private long left;

    ProfileOutput(OwnedFile<ProfileSnapshot> file) {
        this.file = file;
    }

    /** Adds a profiler that is switched on, where there is a file to write. */
    static void add(BrickProfiler profiler) {
        ProfileOutput output = OF_PROCESS;
        if (output != null) {
            output.register(profiler);
        }
    }

    private static @Nullable ProfileOutput open(String setting) {
        if (OutputOwner.isTaken()) {
            return null;
        }
        Optional<String> owner = OutputOwner.claim(ProfileOutput.class);
        if (owner.isPresent()) {
            warn(owner.get() + " writes the profile to '" + setting
                    + "'; what this copy of the library records is not in it");
            return null;
        }
        try {
            ProfileOutput output =
                    new ProfileOutput(OwnedFile.begin(Path.of(setting), FileFormat.of(ProfileSnapshot.class)));
            Runtime.getRuntime().addShutdownHook(new Thread(output::writeAtEnd, "brick-profile-output"));
            return output;
        } catch (IOException | InvalidPathException | IllegalStateException e) {
            warn("no profile goes to '" + setting + "': " + e.getMessage());
            return null;
        }
    }

    private static void warn(String fault) {
        LoggerFactory.getLogger(ProfileOutput.class).warn("BRICK_PROFILER_OUT: {}", fault);
    }

    /** Adds a profiler once. */
    synchronized void register(BrickProfiler profiler) {
        if (profiler.isInOutput) {
            return;
        }
        profiler.isInOutput = true;
        if (profilers.size() < MOST_PROFILERS) {
            profilers.add(profiler.windows.add(profiler::snapshot));
        } else if (left++ == 0) {
            log.warn(
                    "BRICK_PROFILER_OUT: the profile has the first {} profilers of this process and no further ones; use one"
                            + " profiler for the whole run",
                    MOST_PROFILERS);
        }
    }

    /** Returns the merged profile of all of them; empty if none was switched on. */
    synchronized Optional<ProfileSnapshot> profile() {
        Optional<ProfileSnapshot> all =
                profilers.stream().map(WindowReaders.Reader::whole).reduce(ProfileSnapshot::merge);
        if (left == 0) {
            return all;
        }
        List<String> remarks =
                new ArrayList<>(all.map(each -> each.facts().disturbances()).orElse(List.of()));
        remarks.add("the profile lacks " + left + " of " + (MOST_PROFILERS + left) + " profilers of the process");
        return all.map(
                each -> each.withFacts(each.facts().withMachine(each.facts().machine(), remarks)));
    }

    private void noteFullHeap() {
        log.warn("BRICK_PROFILER_OUT: the heap is full; if it still is at the end, the profile may be lost");
    }

    private void writeAtEnd() {
        reserve.release();
        for (int attempt = 1; ; attempt++) {
            try {
                write();
                return;
            } catch (OutOfMemoryError full) {
                if (attempt == ATTEMPTS) {
                    log.error("BRICK_PROFILER_OUT: the profile is lost: the heap is full");
                    return;
                }
                // Other threads end with the same error, and leave memory.
                pause();
            } catch (IOException | RuntimeException | LinkageError e) {
                log.error("BRICK_PROFILER_OUT: the profile is lost: {}", String.valueOf(e.getMessage()));
                return;
            }
        }
    }

    private static void pause() {
        try {
            Thread.sleep(RETRY_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Writes the profile, where a profiler was switched on. */
    void write() throws IOException {
        Optional<ProfileSnapshot> profile = profile();
        if (profile.isEmpty()) {
            return;
        }
        switch (file.write(profile.get(), written -> written.facts().isOfThisProcess())) {
            case THIS -> log.info("BRICK_PROFILER_OUT: the profile is in {}", SETTING);
            case APPLICATION -> log.info("BRICK_PROFILER_OUT: the application has written {} itself", SETTING);
            case OTHER_PROCESS ->
                log.warn(
                        "BRICK_PROFILER_OUT: another process has written {}; the profile of this one is in {}",
                        SETTING,
                        file.besidePath());
        }
    }
}
