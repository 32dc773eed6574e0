#include "eigen/lobpcg/lobpcg.hpp"

#include <algorithm>
#include <utility>

#include "core/parallel.hpp"
#include "eigen/lobpcg/ritz.hpp"
#include "eigen/resolution.hpp"

namespace diacut {

namespace {

/// Vectors beyond those wanted that are iterated along: the last wanted ones converge by them.
constexpr int kGuards = 6;
/// So many of the guards get corrections; with corrections for all of them the Rayleigh-Ritz
/// problem is a fifth larger and no fewer iterations are needed.
constexpr int kCorrectedGuards = 2;
/// An iteration makes progress where the worst vector's convergence measure falls below kProgress
/// times the least measure of all iterations before it. An image is given up after more than
/// kPatience iterations in a row without progress, as where only the rounding of float32 is left. A
/// measure that falls by 5% in each iteration makes no progress either: each least replaces the one
/// before it.
constexpr int kPatience = 30;
constexpr double kProgress = 0.9;
/// Eigenvalues of L may change by this share in the last iteration: residuals as small as those
/// wanted can hide mixtures of vectors whose eigenvalues are smaller still.
constexpr double kSettled = 1e-3;
/// Eigenvalues of L may always change by this much, which float vectors may not resolve.
constexpr double kResolved = 1e-7;
/// Directions P of which less than this share of the squared norm is outside of the span of X are
/// left out: the differences of their products with L would be rounding errors.
constexpr double kMostlyOld = 1e-4;
/// The convergence measure that is enough on each level but the finest.
constexpr double kCoarseConvergence = 20;
/// Blocks of the finest grid's size: X with R, W, P and a scratch block, or with L X, R, W and the
/// scratch block in the first iteration, when there is no P.
constexpr int kBlocks = 5;

}  // namespace

/// The iterations on one grid. Besides X there are at any time some of the blocks
///   L X  from the end of an iteration until the next residuals, and in the first until S'L S;
///   R    residuals of the selected columns, until they are preconditioned;
///   W    preconditioned residuals, until X is updated, and L W until S'L S;
///   P    the directions of the last update.
class Lobpcg::Run {
 public:
  Run(Lobpcg& solver, LobpcgLevels& levels, int level, Block& x, std::vector<LobpcgImage>& images,
      const Watch& watch)
      : solver_(solver),
        levels_(levels),
        level_(level),
        goal_{solver.parameters_.tolerance, solver.parameters_.relative_tolerance},
        watch_(watch),
        segments_(levels.segments(level)),
        columns_(x.columns()),
        states_([&] {
          std::vector<State> states;
          for (LobpcgImage& image : images) {
            states.push_back({&image, {}, ProjectedLaplacian(x.columns()), {}, {}});
            states.back().measure.assign(static_cast<std::size_t>(x.columns()), INFINITY);
            states.back().change = states.back().measure;
          }
          return states;
        }()),
        x_(x),
        lambda_(Uploaded(solver.workspace_.context(), eigenvalues())) {}

  void iterate(int iterations) {
    lx_ = laplacian(x_, false);
    for (int k = 0; k < iterations; ++k) {
      step();
      // On coarse grids Ritz values alone decide what to go on with; after the last iteration L X
      // is of no use.
      if (level_ > 0 && (converged() || k + 1 == iterations)) return;
      lx_ = laplacian(x_, false);
      rotate_projected();  // While the device computes.
      if (level_ > 0) continue;
      measure_residuals();
      if (converged()) return;
    }
  }

 private:
  /// What is known of one image on this grid; vectors have one value for each column of X.
  struct State {
    LobpcgImage* image;
    /// The columns of X that get corrections, ascending: those of R, W and P, in that order.
    std::vector<std::int32_t> selected;
    ProjectedLaplacian projected;
    std::vector<double> measure;  ///< Convergence measures.
    std::vector<double> change;   ///< The part of the measures that Ritz values make.
    double least = INFINITY;      ///< The image's least convergence so far.
    int stalled = 0;              ///< Iterations in a row without progress (kProgress).
    Eigen::MatrixXd s_ls = {};    ///< S'L S of the last Rayleigh-Ritz step.
    RitzStep ritz = {};           ///< That step.
  };
  /// Soft locking's choice.
  struct Selection {
    ColumnSelection columns;
    bool changed = false;  ///< Whether P has to become other columns.
  };

  /// One iteration: from Ritz vectors X, their L X and Ritz values Lambda, and directions P to the
  /// next X, Lambda and P.
  void step() {
    BlockPool& blocks = solver_.blocks_;
    const Selection selection = select();
    const int width = selection.columns.width;
    std::optional<Block> r = blocks.take(width);
    // R = L X - X Lambda, of the selected columns
    ritz_residuals(solver_.workspace_, *x_, **lx_, *lambda_, selection.columns, segments_, **r);
    // X'L X follows from the last step; without one, S'L S takes L X.
    if (p_) lx_.reset();
    keep_directions(selection);  // P = the selected columns of P
    Block w = precondition(*r);  // W = M R
    r.reset();
    // Much of W may lie along X. Taken out of L W later, it would leave the rounding errors.
    solver_.products_.project(*x_, width, segments_, *w);  // W = W - X diag(X'X)^-1 X'W
    std::optional<Block> lw = laplacian(w, true);          // L W
    const BasisBlocks s{&*x_, &*w, p_ ? &**p_ : nullptr};  // S = [X W P]
    const BasisBlocks ls{lx_ ? &**lx_ : nullptr, &**lw, nullptr};
    const std::vector<GramMatrices> grams =
        solver_.products_.gram_matrices(s, ls, width, segments_);  // S'S and S'L S
    lw.reset();
    lx_.reset();
    rayleigh_ritz(grams, width);  // S'L S Q = S'S Q Lambda
    lambda_.reset();              // The upload of the rotation takes its memory.
    const Rotation q = upload_rotations(s.count(), width);
    lambda_ = q.words;  // It begins with them.
    Block next_p = blocks.take(width);
    // P = W Q_W + P Q_P, and X = X Q_X + P
    update_basis(solver_.workspace_, q, *x_, s.w, s.p, width, segments_, *next_p);
    p_ = std::move(next_p);
  }

  /// Soft locking: selects the columns that have not converged. What would correct the others is
  /// rounding errors.
  Selection select() {
    const std::size_t count = solver_.active_->count();
    const int corrected = solver_.parameters_.vectors + kCorrectedGuards;
    std::vector<std::vector<std::int32_t>> before(count);
    std::size_t most = 1;
    for (std::size_t k = 0; k < count; ++k) {
      State& state = active(k);
      before[k] = std::exchange(state.selected, {});
      for (int column = 1; column < corrected; ++column) {
        if (state.measure[static_cast<std::size_t>(column)] > 1) state.selected.push_back(column);
      }
      most = std::max(most, state.selected.size());
    }
    const int width = solver_.workspace_.narrow_columns(static_cast<int>(most));
    const auto each = static_cast<std::size_t>(width);
    std::vector<std::int32_t> columns(count * each, -1);
    std::vector<std::int32_t> directions(count * each, -1);
    bool changed = p_ && p_->columns() != width;
    for (std::size_t k = 0; k < count; ++k) {
      State& state = active(k);
      std::copy(state.selected.begin(), state.selected.end(),
                columns.begin() + static_cast<std::ptrdiff_t>(k * each));
      if (!p_) continue;
      changed = changed || before[k] != state.selected;
      const auto own = std::span(directions).subspan(k * each, state.selected.size());
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto found = std::lower_bound(before[k].begin(), before[k].end(), state.selected[i]);
        if (found == before[k].end() || *found != state.selected[i]) continue;
        own[i] = static_cast<std::int32_t>(found - before[k].begin());
      }
      state.projected.select(own);
    }
    return {select_columns(solver_.workspace_, columns, directions), changed};
  }

  void keep_directions(const Selection& selection) {
    if (!selection.changed) return;
    Block kept = solver_.blocks_.take(selection.columns.width);
    gather_columns(solver_.workspace_, selection.columns, **p_, p_->columns(), segments_, *kept);
    p_ = std::move(kept);
  }

  Block precondition(const Block& r) {
    Block w = solver_.blocks_.take(r.columns());
    Block scratch = solver_.blocks_.take(columns_);
    const std::int64_t before = levels_.passes();
    levels_.precondition(level_, *r, *w, *scratch, r.columns());
    count(levels_.passes() - before, true);
    return w;
  }

  Block laplacian(const Block& v, bool of_selected) {
    Block lv = solver_.blocks_.take(v.columns());
    const std::int64_t before = levels_.passes();
    levels_.laplacian(level_, *v, *lv, v.columns());
    count(levels_.passes() - before, of_selected);
    return lv;
  }

  void rayleigh_ritz(const std::vector<GramMatrices>& grams, int width) {
    parallel_for(grams.size(), [&](std::size_t k) {
      State& state = active(k);
      rayleigh_ritz(state, grams[k], width);
      std::vector<double>& theta = state.image->theta;
      const std::vector<double> before = std::exchange(theta, state.ritz.values);
      for (std::size_t c = 1; c < wide(); ++c) {
        const double allowed = std::max(kSettled * (1 - theta[c]), kResolved);
        state.change[c] = std::abs(theta[c] - before[c]) / allowed;
      }
      state.measure = state.change;
    });
  }

  /// The Rayleigh-Ritz step of one image. What X holds before the first step need not be Ritz
  /// vectors: the change of their Ritz values is told from Rayleigh quotients.
  void rayleigh_ritz(State& state, const GramMatrices& gram, int width) const {
    const std::size_t selected = state.selected.size();
    const Eigen::MatrixXd ss = gram_of_selected(gram.self, gram.side, columns_, width, selected);
    Eigen::MatrixXd& s_ls = state.s_ls;
    s_ls = gram_of_selected(gram.product, gram.side, columns_, width, selected);
    if (state.projected.known()) {
      state.projected.complete(s_ls);
    } else {
      for (Eigen::Index c = 1; c < columns_; ++c) {
        const double square = ss(c, c);
        state.image->theta[static_cast<std::size_t>(c)] = square > 0 ? 1 - s_ls(c, c) / square : 0;
      }
    }
    const Eigen::Index side = ss.rows();
    std::vector<bool> skipped(static_cast<std::size_t>(side), false);
    for (Eigen::Index i = columns_ + static_cast<Eigen::Index>(selected); i < side; ++i) {
      const double inside = ss.col(i).head(columns_).squaredNorm();
      skipped[static_cast<std::size_t>(i)] = ss(i, i) - inside < kMostlyOld * ss(i, i);
    }
    state.ritz = solve_ritz(ss, ss - s_ls, columns_, skipped);
  }

  /// Takes [X P]'L [X P] of each image over to the X and P of the last step.
  void rotate_projected() {
    parallel_for(solver_.active_->count(), [&](std::size_t k) {
      State& state = active(k);
      state.projected.rotate(state.s_ls, state.ritz, state.selected);
    });
  }

  Rotation upload_rotations(int blocks, int width) {
    std::vector<ImageRotation> rotations;
    for (std::size_t k = 0; k < solver_.active_->count(); ++k) {
      rotations.push_back({active(k).ritz.rotation, active(k).selected});
    }
    return upload_rotation(solver_.workspace_, eigenvalues(), rotations, blocks, width);
  }

  void measure_residuals() {
    const std::vector<double> norms =
        ritz_residual_norms(solver_.workspace_, *x_, **lx_, *lambda_, segments_);
    for (std::size_t i = 0; i < solver_.active_->count(); ++i) {
      State& state = active(i);
      const auto own = norms.begin() + static_cast<std::ptrdiff_t>(i * wide());
      state.image->residual_norms.assign(own, own + columns_);
      for (std::size_t k = 1; k < wide(); ++k) {
        const double allowed = goal_.allowed(1 - state.image->theta[k]);
        state.measure[k] = std::max(state.image->residual_norms[k] / allowed, state.change[k]);
      }
    }
  }

  /// Leaves the images active that need more iterations; whether all are done.
  bool converged() {
    double largest = 0;
    std::vector<std::int32_t> left;
    for (const std::int32_t place : solver_.active_->places()) {
      State& state = states_[static_cast<std::size_t>(place)];
      LobpcgImage& image = *state.image;
      ++image.iterations;
      image.convergence = worst(state);
      state.stalled = image.convergence < kProgress * state.least ? 0 : state.stalled + 1;
      state.least = std::min(state.least, image.convergence);
      const bool done = image.convergence <= (level_ > 0 ? kCoarseConvergence : 1) ||
                        image.products >= solver_.parameters_.max_products;
      if (!done && state.stalled <= kPatience) left.push_back(place);
      largest = std::max(largest, image.convergence);
    }
    solver_.report(level_ > 0 ? 0 : 0.99 / (1 + std::log2(1 + largest)), watch_);
    if (!left.empty()) solver_.active_->set(left);
    return left.empty();
  }

  std::size_t wide() const { return static_cast<std::size_t>(columns_); }

  /// The Ritz values of L of all images.
  std::vector<float> eigenvalues() const {
    std::vector<float> values;
    for (const State& state : states_) {
      for (const double theta : state.image->theta) values.push_back(static_cast<float>(1 - theta));
    }
    return values;
  }

  /// Counts passes with all columns of X, or with an image's selected ones.
  void count(std::int64_t passes, bool of_selected) {
    for (std::size_t k = 0; k < solver_.active_->count(); ++k) {
      const State& state = active(k);
      state.image->passes += passes;
      state.image->products +=
          passes * (of_selected ? static_cast<std::int64_t>(state.selected.size()) : columns_);
    }
  }

  /// Of the wanted vectors but the trivial one.
  double worst(const State& state) const {
    return *std::max_element(state.measure.begin() + 1,
                             state.measure.begin() + solver_.parameters_.vectors);
  }

  /// The k-th image that is iterated.
  State& active(std::size_t k) {
    return states_[static_cast<std::size_t>(solver_.active_->places()[k])];
  }

  Lobpcg& solver_;
  LobpcgLevels& levels_;
  const int level_;
  const ResidualGoal goal_;  ///< On the finest level.
  const Watch& watch_;
  const Segments segments_;
  const int columns_;
  std::vector<State> states_;
  Block& x_;
  std::optional<Block> lx_;
  std::optional<Block> p_;
  std::optional<Uploaded> lambda_;  ///< Ritz values of L.
};

Lobpcg::Lobpcg(Context& context, const EigenParameters& parameters, const Batch& batch,
               std::shared_ptr<ActiveSegments> active)
    : parameters_(parameters),
      active_(std::move(active)),
      workspace_(context, columns(parameters), batch.segment(), active_),
      // What is between images is not always written, and has to be a number.
      blocks_(context, kBlocks, batch.grid().rows() * static_cast<std::size_t>(columns(parameters)),
              batch.count > 1),
      products_(workspace_) {
  for (const char* file : {"eigen/lobpcg/column_sums.cl", "eigen/lobpcg/residuals.cl",
                           "eigen/lobpcg/basis_update.cl", "eigen/lobpcg/peaks.cl"}) {
    workspace_.kernels(file);
  }
}

int Lobpcg::columns(const EigenParameters& parameters) {
  return block_columns(parameters.vectors + std::max(kGuards, parameters.vectors / 8));
}

void Lobpcg::solve(LobpcgLevels& levels, int level, Block& x, std::vector<LobpcgImage>& images,
                   int iterations, const Watch& watch) {
  Run(*this, levels, level, x, images, watch).iterate(iterations);
}

void Lobpcg::report(double share, const Watch& watch) {
  share_ = std::max(share_, share);  // It never falls.
  watch.report("eigenvectors", share_);
}

void LobpcgImage::describe(const LobpcgLevels& levels, EigenReport& report) const {
  report.solver = "multilevel";
  report.converged = convergence <= 1;
  report.levels = levels.count();
  report.restarts = iterations;
  report.passes = passes;
  report.products = products;
}

}  // namespace diacut
