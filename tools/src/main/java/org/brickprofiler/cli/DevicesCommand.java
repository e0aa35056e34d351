package org.brickprofiler.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.brickprofiler.console.Style;
import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.device.metal.MetalSupport;
import org.brickprofiler.device.opencl.OpenClSupport;
import org.brickprofiler.internal.base.PlainText;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the devices that can be timed. */
@Command(
        name = "devices",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Lists the devices whose work can be timed, and for each kind without one the reason. "
                + "Exit code 0 if there is a device, 1 if there is none.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Can this machine's GPUs be timed?",
            "    brick devices",
            "  Decode on the first of them:",
            "    brick demo --device cuda:0 --layers 4 --tokens 200"
        })
final class DevicesCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /**
     * One kind of devices.
     *
     * @param found the driver and its devices, or the reason why there are none
     * @param option the value of the demo's option {@code --device}, without the device number
     * @param names the devices
     */
    private record Kind(String found, String option, List<String> names) {

        static Kind cuda() {
            CudaSupport support = CudaSupport.probe();
            List<String> names = support.deviceNames();
            return new Kind(
                    support.toString(),
                    "cuda",
                    IntStream.range(0, names.size())
                            .mapToObj(number -> names.get(number) + ", " + support.identityOf(number))
                            .toList());
        }

        static Kind metal() {
            MetalSupport support = MetalSupport.probe();
            return new Kind(
                    support.toString(), "metal", support.deviceName().stream().toList());
        }

        static Kind openCl() {
            OpenClSupport support = OpenClSupport.probe();
            List<String> names = support.deviceNames();
            return new Kind(
                    support.toString(),
                    "opencl",
                    IntStream.range(0, names.size())
                            .mapToObj(number -> names.get(number) + ", marks: " + support.markOf(number))
                            .toList());
        }
    }

    /** Returns all kinds of devices. To add a kind, add a line here. */
    private static List<Kind> kinds() {
        return List.of(Kind.cuda(), Kind.metal(), Kind.openCl());
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        StringBuilder text = new StringBuilder();
        boolean any = false;
        for (Kind kind : kinds()) {
            text.append(kind.found()).append('\n');
            for (int number = 0; number < kind.names().size(); number++) {
                text.append("  " + kind.option() + ":" + number + "  ")
                        .append(kind.names().get(number))
                        .append('\n');
                any = true;
            }
        }
        out.print(Style.ofOutput().applied(PlainText.visible(text.toString())));
        out.flush();
        return any ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
