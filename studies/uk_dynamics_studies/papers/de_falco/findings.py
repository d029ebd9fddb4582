# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What redoing the study of de Falco, Pennestrì and Vita shows; numbers of the full study."""

FINDINGS = (
    (
        "The five-bar can be simulated without failure by all five pseudoinverses, from a start"
        " that stays regular and from one that falls through the flat configuration again and"
        " again: 20 s, angles within 3e-8 rad of the exact motion, Σ Ψᵢ² below 1e-27 m², less than"
        " 5,000 evaluations. What it takes is a projection of positions and velocities after each"
        " step. The paper's best are 2.1e-7 in 7.4e7 evaluations with stabilisation, and 6.9e-4 in"
        " 1.0e6 without."
    ),
    (
        "Without stabilisation we agree with Tables 8 and 9 when the start is regular (the paper"
        " does not say its angle): with one TOL for integrator and rank all five go wrong, at 16"
        " to 20 s for 1e-6 (published: 17.5 s to correct, Varga 7.3 s) and at 13 to 15 s for 1e-8"
        " (published: 8.1 to 18 s). A smaller TOL does not help but costs: with 1e-10 the budget"
        " is spent at 10 to 11 s. From +10° every run without projection and stabilisation is"
        " wrong before 3 s, so the paper's motion is most likely one that never is flat."
    ),
    (
        "Why they fail: the paper ties the rank tolerance to TOL, and drift makes the redundant"
        " row look independent. Off the constraints by 1e-8 the smallest singular value is 5e-10"
        " of the largest; a rank tolerance below that judges twelve rows independent, and the"
        " acceleration is wrong by 3.7 rad/s², however small the drift (Drift and rank). An"
        " integrator then sees a right-hand side that jumps, and takes tiny steps. Varied apart,"
        " the rank tolerance decides and not the integrator's: from the regular start 1e-3 is"
        " correct for the whole time with every TOL, and 1e-10 fails with every TOL."
    ),
    (
        "Through the flat configuration no choice of tolerances that we tried is right without"
        " projection. With projection anything from 1e-8 to 1e-3 is; 1e-2 fails where one leg is"
        " heavier: near flat the smallest singular value that counts is 0.3 |θ| of the largest,"
        " and must not be cut off."
    ),
    (
        "Stabilisation with α = 1000, β = 100 decays with 1995 1/s and 5 1/s: it is stiff, and"
        " integrators that are not made for it creep. From the regular start the whole 20 s are"
        " correct after 86,516 evaluations (rank tolerance 1e-4, TOL = 1e-6), Σ Ψᵢ² ≤ 1.2e-13; the"
        " paper reports 7.4e7 to 8.1e7 evaluations. The runs of Tables 10 to 12 end here with"
        " their budget: from the regular start correct as far as they came, from +10° some of them"
        " wrong before (SVD after 1.3 s for 1e-6)."
    ),
    (
        "We do not find that the algorithm decides. SVD and Varga, which the paper sees fail"
        " first, do no worse than the others: the times at which runs with tied tolerances go"
        " wrong differ by chance, as one row is or is not judged independent. Only Greville"
        " differs by nature: it inverts leading rows without pivoting, and near the flat"
        " configuration its errors grow like 1/θ³ (3e-9 at θ = 1e-3), those of the others like 1/θ"
        " (3e-13). Modified Gram–Schmidt loses nothing when its solutions are computed column by"
        " column (Björck)."
    ),
    (
        "Integrators: IMSL's DIVPAG (Adams–Moulton) and DIVPRK (Verner 5(6)) are not available"
        " here; VODE's Adams formulas and Dormand and Prince's methods stand in for them, and"
        " numbers of evaluations can only be compared in their order of magnitude. Σ Ψᵢ² is the"
        " largest after any step; an angle counts as correct within 0.01 rad, for the paper says"
        " neither."
    ),
    (
        "Flops: Table 6 follows from Table 1, and Table 1 from Tables 2, 3 and 4. Its line for"
        " (43) does not follow from Table 5: of two singular value decompositions with 9n³ each it"
        " has kept one. Added up, (43) needs 1,173,284 operations for m = 19, n = 28 and not"
        " 975,716, a fifth more. Counted operations agree with the lines within 5 %: products with"
        " vectors are 2mn and not 2n², and Table 4 counts (I + M) Ψ⁺ where (41) has Q M Ψ⁺. The"
        " price of the decomposition, 4m²n + 8mn² + 9n³, is Golub and Van Loan's for m ≥ n, while"
        " Ψ has m < n. With modified Gram–Schmidt or Greville in its place (31) needs 23 to 37 %"
        " of the operations at the two larger sizes."
    ),
    (
        "Text: in Greville's recursion the vector of a dependent row must be Aᵢ₋₁⁺ dᵢᵀ/(1 + dᵢ"
        " dᵢᵀ); the printed dᵢ Aᵢ₋₁⁺ does not fit in size."
    ),
)
