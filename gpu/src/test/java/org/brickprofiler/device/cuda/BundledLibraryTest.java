package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The folders into which a bundled library is unpacked. Tests of the runnable jar show that JCuda loads it from there.
 */
class BundledLibraryTest {

    private static final String NAME = "libone.so";
    private static final byte[] CONTENT = {1, 2, 3, 4};

    @TempDir
    Path folder;

    private Path unpacked(byte[] content) throws IOException {
        return BundledLibrary.unpacked(NAME, content, Map.of("XDG_CACHE_HOME", folder.toString()), null);
    }

    @Test
    void goesToTheUsersCacheUnderItsHash() throws IOException {
        Path one = unpacked(CONTENT);

        assertThat(one.getParent()).isEqualTo(folder.resolve("brick-profiler"));
        assertThat(one.getFileName().toString())
                .isEqualTo("9f64a747e1b97f131fabb6b447296c9b6f0201e79fb3c5356e6c77e89b6a806a");
        assertThat(one).isDirectoryContaining(one.resolve(NAME)::equals);
        assertThat(one.resolve(NAME)).hasBinaryContent(CONTENT);
        assertThat(unpacked(new byte[] {5})).isNotEqualTo(one);
        assertThat(one.resolve(NAME)).hasBinaryContent(CONTENT);
    }

    @Test
    void isWrittenOnceAndAgainWhereItIsNotWhatItShouldBe() throws IOException {
        Path own = unpacked(CONTENT);
        Path file = own.resolve(NAME);
        FileTime before = FileTime.fromMillis(1_000);
        Files.setLastModifiedTime(file, before);

        unpacked(CONTENT);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(before);

        Files.write(file, new byte[] {1, 2});
        assertThat(unpacked(CONTENT).resolve(NAME)).isEqualTo(file).hasBinaryContent(CONTENT);
        assertThat(own.toFile().list()).containsExactly(NAME);
    }

    @Test
    void theCacheIsInTheHomeFolderUnlessAVariableNamesIt() throws IOException {
        Path home = folder.resolve("home");

        assertThat(BundledLibrary.unpacked(NAME, CONTENT, Map.of(), home.toString())
                        .getParent())
                .isEqualTo(home.resolve(".cache").resolve("brick-profiler"));
        Map<String, String> relative = Map.of("XDG_CACHE_HOME", "here");
        assertThat(BundledLibrary.unpacked(NAME, CONTENT, relative, home.toString()))
                .startsWith(home);
        Map<String, String> windows =
                Map.of("LOCALAPPDATA", folder.resolve("local").toString());
        assertThat(BundledLibrary.unpacked(NAME, CONTENT, windows, home.toString()))
                .startsWith(folder.resolve("local"));
    }

    @Test
    void withoutACacheAFolderOfTheProcessHoldsIt() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "no folder");

        Path noCache = BundledLibrary.unpacked(NAME, CONTENT, Map.of("XDG_CACHE_HOME", file.toString()), null);
        Path noHome = BundledLibrary.unpacked(NAME, CONTENT, Map.of(), null);
        Path unknownHome = BundledLibrary.unpacked(NAME, CONTENT, Map.of(), "?");

        assertThat(noCache).isNotEqualTo(noHome);
        for (Path own : new Path[] {noCache, noHome, unknownHome}) {
            assertThat(own.resolve(NAME)).hasBinaryContent(CONTENT);
            Files.delete(own.resolve(NAME));
            Files.delete(own);
        }
    }
}
