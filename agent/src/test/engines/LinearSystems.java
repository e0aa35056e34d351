import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;
import org.ejml.dense.row.RandomMatrices_DDRM;
import org.ejml.dense.row.factory.LinearSolverFactory_DDRM;
import org.ejml.interfaces.linsol.LinearSolverDense;

/** Multiplies and solves with EJML, as its users do. */
public class LinearSystems {
    public static void main(String[] args) {
        java.util.Random random = new java.util.Random(1);
        double sum = 0;
        for (int turn = 0; turn < 50; turn++) {
            DMatrixRMaj a = RandomMatrices_DDRM.rectangle(20, 20, random);
            DMatrixRMaj b = RandomMatrices_DDRM.rectangle(20, 3, random);
            DMatrixRMaj product = new DMatrixRMaj(20, 3);
            CommonOps_DDRM.mult(a, b, product);
            LinearSolverDense<DMatrixRMaj> solver = LinearSolverFactory_DDRM.lu(20);
            if (!solver.setA(a)) {
                throw new IllegalStateException("singular");
            }
            solver.solve(product, product);
            sum += product.get(0, 0) - b.get(0, 0);
        }
        System.out.println(Math.abs(sum) < 1e-6 ? "solved" : "off by " + sum);
    }
}
