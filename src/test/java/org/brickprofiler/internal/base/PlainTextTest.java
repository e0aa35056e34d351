package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

final class PlainTextTest {

    @Test
    void printableAsciiStays() {
        assertThat(PlainText.ascii(" RmsNorm/0_~")).isEqualTo(" RmsNorm/0_~");
    }

    @Test
    void everythingElseIsEscapedAsInJavaSource() {
        assertThat(PlainText.ascii("a\n\r\tb\u001b\u007f\u00e9\u2028"))
                .isEqualTo("a\\n\\r\\tb\\u001b\\u007f\\u00e9\\u2028");
    }

    @Property
    void anyTextComesOutAsOnePrintableLine(@ForAll String text) {
        assertThat(PlainText.ascii(text)).matches("[ -~]*");
    }

    @Test
    void whatFitsIsNotCut() {
        assertThat(PlainText.shortened("12345678", 8)).isEqualTo("12345678");
    }

    @Test
    void textsThatWouldLookTheSameAreCutAroundTheirDifference() {
        String common = "void at::native::elementwise_kernel<at::native::CUDAFunctor";
        List<String> texts = List.of(
                common + "_add<float> >(int, float, std::array<char*, 3ul>)",
                "short",
                common + "_mul<float> >(int, float, std::array<char*, 3ul>)",
                common + "_add<double>>(int, float, std::array<char*, 3ul>)",
                "short");

        assertThat(PlainText.shortened(texts, 40))
                .containsExactly(
                        "elementwise_kernel<...nctor_add<float> >",
                        "short",
                        "elementwise_kernel<...nctor_mul<float> >",
                        "elementwise_kernel<...nctor_add<double>>",
                        "short");
    }

    @Test
    void aFunctionOfCppKeepsItsName() {
        String grad =
                "void at::native::(anonymous namespace)::cuComputePartGradGammaBeta<float, float>(float const*, long)";
        String mangled =
                "_ZN2ck16tensor_operation6device12_GLOBAL__N_124kernel_grouped_conv_fwd_INS_34GridwiseItttftNS_5";

        assertThat(PlainText.shortened(
                        List.of(grad, mangled, "cask_cudnn_infer::computeBOffsetsKernel(cask_cudnn::P)"), 40))
                .containsExactly(
                        "cuComputePartGradGammaBeta<float, float>",
                        "kernel_grouped_conv_fwd_",
                        "computeBOffsetsKernel");
        String call = "RunAndCheck(std::vector<float>&, float)::{lambda(sycl::_V1::handler&)#1}::operator()(int) const";
        assertThat(PlainText.shortened(List.of(call + "::__GEMM", call), 40))
                .containsExactly("__GEMM", "RunAndCheck(std::ve...rator()(int) const");
        List<String> twoTypes =
                List.of(grad, grad.replace("(float const*", "(double const*"), "cuComputePartGradGammaBeta");
        assertThat(PlainText.shortened(twoTypes, 40))
                .as("parameters that distinguish are kept")
                .doesNotHaveDuplicates()
                .startsWith("cuComputePartGradGa...loat const*, long)", "cuComputePartGradGa...uble const*, long)");
        String broken = "void operator<<".repeat(4);
        assertThat(PlainText.shortened(List.of(broken, "_ZN99x".repeat(9)), 40))
                .containsExactly(
                        "void operator<<void...r<<void operator<<", "_ZN99x_ZN99x_ZN99x_..._ZN99x_ZN99x_ZN99x");
    }

    @Test
    void whatStillLooksTheSameIsNumbered() {
        List<String> texts = List.of("a".repeat(200), "a".repeat(300), "a".repeat(400), "a".repeat(200));

        List<String> shown = PlainText.shortened(texts, 40);
        assertThat(shown.subList(0, 3)).doesNotHaveDuplicates().allMatch(text -> text.length() <= 40);
        assertThat(shown.get(3)).isEqualTo(shown.get(0));
    }

    @Property
    void differentTextsStayDifferent(
            @ForAll("names") List<String> texts, @ForAll @IntRange(min = 30, max = 60) int limit) {
        List<String> shown = PlainText.shortened(texts, limit);

        assertThat(shown).hasSameSizeAs(texts).allMatch(text -> text.length() <= limit);
        assertThat(Set.copyOf(shown)).hasSameSizeAs(Set.copyOf(texts));
    }

    /** Long names of few different parts. */
    @Provide
    Arbitrary<List<String>> names() {
        return Arbitraries.of("kernel<", "float, ", "half, ", "int>", "::native::", "x")
                .list()
                .ofMaxSize(30)
                .map(parts -> String.join("", parts))
                .list()
                .ofMaxSize(12);
    }

    @Test
    void whatDoesNotFitKeepsItsBeginningAndItsEnd() {
        assertThat(PlainText.shortened("layers.0.ffn.down", 10)).isEqualTo("laye...own");
        assertThat(PlainText.shortened("123456789", 8)).isEqualTo("123...89").hasSize(8);
    }

    @Test
    void charactersThatChangeATerminalAreEscapedAndLettersStay() {
        assertThat(PlainText.visible("caf\u00e9\tA\n")).isEqualTo("caf\u00e9\tA\n");
        assertThat(PlainText.oneLine("caf\u00e9\tA\n")).isEqualTo("caf\u00e9\\tA\\n");
        assertThat(PlainText.visible("\u001b[31m\u009b31m\u202eabc\u2066\u200b\u2028\u0007\r"))
                .isEqualTo("\\u001b[31m\\u009b31m\\u202eabc\\u2066\\u200b\\u2028\\u0007\\r");
    }
}
