import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.transformer.TransformerEncoderBlock;
import ai.djl.pytorch.jni.JniUtils;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;

/**
 * Runs tiny encoder blocks with random weights in DJL on PyTorch, with PyTorch's older profiler. Arguments: the file of
 * the profile, the runs. It prints the time of all runs in ns.
 */
public final class DjlEncoder {

    private static final int LAYERS = 2;
    private static final int WIDTH = 128;
    private static final int TOKENS = 32;

    private DjlEncoder() {}

    private static void run(NDManager manager, Block model, ParameterStore weights) {
        try (NDManager inner = manager.newSubManager()) {
            NDArray x = inner.randomNormal(new Shape(1, TOKENS, WIDTH));
            NDList out = model.forward(weights, new NDList(x), false);
            out.get(0).sum().getFloat();
        }
    }

    public static void main(String[] arguments) {
        int runs = Integer.parseInt(arguments[1]);
        try (NDManager manager = NDManager.newBaseManager()) {
            SequentialBlock model = new SequentialBlock();
            for (int i = 0; i < LAYERS; i++) {
                model.add(new TransformerEncoderBlock(WIDTH, 4, 4 * WIDTH, 0f, Activation::gelu));
            }
            model.add(Linear.builder().setUnits(100).build());
            model.setInitializer(new NormalInitializer(0.02f), Parameter.Type.WEIGHT);
            model.initialize(manager, DataType.FLOAT32, new Shape(1, TOKENS, WIDTH));
            ParameterStore weights = new ParameterStore(manager, false);
            run(manager, model, weights);
            JniUtils.startProfile(false, true, true);
            long beginNs = System.nanoTime();
            for (int i = 0; i < runs; i++) {
                run(manager, model, weights);
            }
            long allNs = System.nanoTime() - beginNs;
            JniUtils.stopProfile(arguments[0]);
            System.out.println(allNs);
        }
    }
}
