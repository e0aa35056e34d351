package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Optional;
import org.brickprofiler.graph.KernelRegistry.Source;
import org.brickprofiler.internal.base.Fnv1a;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class KernelRegistryTest {

    private final KernelRegistry registry = new KernelRegistry();

    @Test
    void aTextIsFoundByItsHashAndByItsName() {
        Source source = registry.register("gemm", "foobar", "/kernels/gemm.ptx");

        assertThat(source)
                .isEqualTo(new Source("gemm", "foobar", Optional.of("/kernels/gemm.ptx"), 0x85944171f73967e8L));
        assertThat(registry.byHash(0x85944171f73967e8L)).contains(source);
        assertThat(registry.byName("gemm")).contains(source);
        assertThat(registry.size()).isEqualTo(1);
    }

    @Test
    void aMissingTextIsEmpty() {
        assertThat(registry.byHash(1)).isEmpty();
        assertThat(registry.byName("gemm")).isEmpty();
        assertThat(registry.size()).isZero();
    }

    @Spec("9.13")
    @Test
    void theHashIsThatOfTheUtf8Bytes() {
        long hash = Fnv1a.of(new byte[] {(byte) 0xc3, (byte) 0xa9});

        assertThat(registry.register("accent", "\u00e9").hash()).isEqualTo(hash);
    }

    @Test
    void theSameTextTwiceKeepsTheNewestNameAndItsPath() {
        registry.register("old", "text", "a.ptx");
        Source renamed = registry.register("new", "text");

        assertThat(renamed.name()).isEqualTo("new");
        assertThat(renamed.path()).contains("a.ptx");
        assertThat(registry.size()).isEqualTo(1);
        assertThat(registry.byName("old")).isEmpty();
        assertThat(registry.byName("new")).contains(renamed);
        assertThat(registry.byHash(renamed.hash())).contains(renamed);
        assertThat(registry.register("new", "text", "b.ptx").path()).contains("b.ptx");
    }

    @Test
    void aNameMeansTheTextRegisteredLast() {
        Source first = registry.register("gemm", "one");
        Source second = registry.register("gemm", "two");
        Source third = registry.register("gemm", "three");

        assertThat(registry.byName("gemm")).contains(third);
        registry.register("other", "three");
        assertThat(registry.byName("gemm")).contains(second);
        registry.register("gemm", "one");
        assertThat(registry.byName("gemm")).contains(first);
        registry.register("other", "two");
        assertThat(registry.byName("gemm")).contains(first);
        registry.register("other", "one");
        assertThat(registry.byName("gemm")).isEmpty();
        assertThat(registry.size()).isEqualTo(3);
    }

    @Test
    void theHashesOfAllTextsAreThereTheOneRegisteredLastAtTheEnd() {
        assertThat(registry.hashes()).isEmpty();
        registry.register("gemm", "one");
        registry.register("gemm", "two");
        registry.register("gelu", "three");
        List<Long> before = registry.hashes();
        registry.register("gemm", "one");

        assertThat(before).containsExactly(hash("one"), hash("two"), hash("three"));
        assertThat(registry.hashes()).containsExactly(hash("two"), hash("three"), hash("one"));
        assertThat(registry.hashes())
                .allSatisfy(hash -> assertThat(registry.byHash(hash)).isPresent());
    }

    private static long hash(String text) {
        return KernelRegistry.hashOf(text);
    }

    @Test
    void emptyNamesTextsAndPathsAreRefused() {
        Source before = registry.register("gemm", "text");

        assertThatIllegalArgumentException().isThrownBy(() -> registry.register("", "text"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> registry.register("gelu", ""))
                .withMessageContaining("gelu");
        assertThatIllegalArgumentException().isThrownBy(() -> registry.register("gelu", "text", ""));
        assertThat(registry.size()).isEqualTo(1);
        assertThat(registry.byName("gemm")).contains(before);
        assertThat(registry.byName("gelu")).isEmpty();
    }

    @Test
    void aSourceWithAnotherHashIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Source("gemm", "foobar", Optional.empty(), 5))
                .withMessageContaining("0x0000000000000005")
                .withMessageContaining("0x85944171F73967E8");
    }

    @Test
    void threadsRegisterAtTheSameTime() throws Exception {
        Crew crew = new Crew();
        for (int thread = 0; thread < 4; thread++) {
            String name = "thread-" + thread;
            crew.run(() -> {
                for (int i = 0; i < 500; i++) {
                    registry.register(name, "text " + i);
                }
            });
        }
        crew.join();

        assertThat(registry.size()).isEqualTo(500);
        for (int i = 0; i < 500; i++) {
            String name = registry.byHash(KernelRegistry.hashOf("text " + i))
                    .orElseThrow()
                    .name();
            assertThat(registry.byName(name)).isPresent();
        }
    }
}
