package org.brickprofiler.cli;

import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A Java process of this machine, to which tools attach. Immutable; any thread.
 *
 * @param pid its id
 * @param files its files as this process sees them: the root folder, unless it runs in a container
 * @param uid the id of its user; empty if the system states none
 */
record JavaProcess(String pid, Path files, Optional<Integer> uid) {

    private static final Path ROOT = Path.of("/");
    private static final int SUPERUSER = 0;

    /**
     * Returns a process.
     *
     * @param pid its id, digits
     * @throws TopSource.Refused if there is none, or it belongs to another user
     */
    static JavaProcess of(String pid) throws TopSource.Refused {
        ProcessHandle process = ProcessHandle.of(Long.parseLong(pid))
                .orElseThrow(() -> new TopSource.Refused("there is no process " + pid));
        if (process.equals(ProcessHandle.current())) {
            throw new TopSource.Refused("process " + pid + " is this command itself");
        }
        return of(pid, Path.of("/proc"));
    }

    /**
     * Returns a process.
     *
     * @param proc the folder in which Linux describes processes; other systems have none
     */
    static JavaProcess of(String pid, Path proc) throws TopSource.Refused {
        Path described = proc.resolve(pid);
        Path self = proc.resolve("self");
        Optional<Integer> uid = uid(described);
        Optional<Integer> own = uid(self);
        if (uid.isPresent() && own.isPresent() && own.get() != SUPERUSER && !own.equals(uid)) {
            throw new TopSource.Refused("process " + pid + " runs as uid " + uid.get() + ", and this command as uid "
                    + own.get() + ", which may not attach to it: run brick as uid " + uid.get() + " or as root");
        }
        Optional<Path> namespace = files(described);
        boolean isElsewhere = namespace.isPresent() && !namespace.equals(files(self));
        return new JavaProcess(pid, isElsewhere ? described.resolve("root") : ROOT, uid);
    }

    private static Optional<Integer> uid(Path process) {
        try {
            return Optional.of((Integer) Files.getAttribute(process, "unix:uid"));
        } catch (IOException | RuntimeException unknown) {
            return Optional.empty();
        }
    }

    /** Returns the name of the namespace of the files that a process sees. */
    private static Optional<Path> files(Path process) {
        try {
            return Optional.of(Files.readSymbolicLink(process.resolve("ns").resolve("mnt")));
        } catch (IOException | RuntimeException unknown) {
            return Optional.empty();
        }
    }

    /** Returns whether the process sees other files than this one, as in a container. */
    boolean isInContainer() {
        return !files.equals(ROOT);
    }

    /** Returns whether the process has a file. */
    boolean has(Path absolute) {
        return Files.exists(isInContainer() ? files.resolve(ROOT.relativize(absolute)) : absolute);
    }

    /** Returns the process in words: its id, its user, and whether it runs in a container. */
    String inWords() {
        return "process " + pid + uid.map(user -> ", which runs as uid " + user).orElse("")
                + (isInContainer() ? " in a container," : uid.isPresent() ? "," : "");
    }

    /**
     * Attaches to the virtual machine; the caller detaches.
     *
     * @throws TopSource.Refused if the process is no Java virtual machine, or lets no other process attach to it
     */
    VirtualMachine attach() throws TopSource.Refused {
        try {
            requireJava();
            return VirtualMachine.attach(pid);
        } catch (AttachNotSupportedException | IOException failed) {
            throw failed instanceof TopSource.Refused refused
                    ? refused
                    : new TopSource.Refused("process " + pid + " cannot be reached: " + failed.getMessage());
        } catch (LinkageError noTools) {
            throw new TopSource.Refused("this Java has no module jdk.attach: run brick with a JDK");
        }
    }

    /**
     * Refuses a process that is no Java virtual machine: the signal for attaching to a virtual machine would end it.
     */
    private void requireJava() throws TopSource.Refused {
        boolean isJava = ProcessHandle.of(Long.parseLong(pid))
                        .flatMap(process -> process.info().command())
                        .filter(command ->
                                Path.of(command).getFileName().toString().matches("javaw?(\\.exe)?"))
                        .isPresent()
                || VirtualMachine.list().stream().anyMatch(each -> each.id().equals(pid));
        if (!isJava) {
            throw new TopSource.Refused("process " + pid + " is no Java process of this user");
        }
    }
}
