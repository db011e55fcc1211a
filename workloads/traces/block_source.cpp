// SPDX-License-Identifier: BSD-3-Clause
// Handing over blocks: at once, or through a bounded queue from a background thread.
#include "workloads/traces/block.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/processors.hpp"

namespace cachetally {
namespace {

constexpr std::size_t blocks_ahead = 4;  ///< per stream; one of them is with the reader

/// Walks through a block, control by control.
class Cursor {
public:
    void enter(const ReferenceBlock& block) {
        block_ = &block;
        position_ = control_ = next_ = 0;
        finished_ = false;
    }
    bool finished() const { return finished_; }

    Batch next() {
        if (control_ < block_->controls.size()) {
            const PlacedControl& placed = block_->controls[control_++];
            return batch(placed.position, placed.control);
        }
        finished_ = true;
        const Control::Kind kind = block_->last ? Control::Kind::end : Control::Kind::none;
        return batch(block_->size(), {kind, 0});
    }

private:
    /// Up to the reference `end`.
    Batch batch(std::size_t end, Control control) {
        const std::size_t begin = std::exchange(position_, end);
        if (block_->is_filtered) return {{}, control, blocks_of(end - begin)};
        return {block_->references().subspan(begin, end - begin), control};
    }

    /// Those of so many references: blocks do not go beyond a control.
    std::span<const FilteredBlock> blocks_of(std::size_t references) {
        const std::size_t first = next_;
        for (; references > 0; ++next_) references -= block_->filtered.blocks[next_].references;
        return std::span(block_->filtered.blocks).subspan(first, next_ - first);
    }

    const ReferenceBlock* block_ = nullptr;
    std::size_t position_ = 0, control_ = 0, next_ = 0;
    bool finished_ = true;
};

/// Blocks as they are wished: what cannot be filtered when it is made is filtered afterwards.
class Wish {
public:
    void set(const std::optional<FilterPlan>& plan) { plan_ = plan; }

    void produce(BlockProducer& producer, ReferenceBlock& block) {
        producer.produce(block, plan_);
        if (!plan_ || block.is_filtered) return;
        if (!filter_) filter_.emplace(*plan_);
        block.filter(*filter_);
    }

private:
    std::optional<FilterPlan> plan_;
    std::optional<RedundancyFilter> filter_;  ///< of what came unfiltered
};

/// What there is to know of the streams, however they are decoded.
class BlockSource : public ReferenceSource {
public:
    BlockSource(std::vector<std::unique_ptr<BlockProducer>> producers, TraceTables tables)
        : producers_(std::move(producers)), tables_(std::move(tables)) {}

    unsigned cores() const override { return static_cast<unsigned>(producers_.size()); }
    std::vector<Region> regions() const override { return tables_.regions; }
    std::vector<std::string> functions() const override { return tables_.functions; }
    std::vector<std::string> phase_names() const override { return tables_.phase_names; }
    const SiteTable* sites() const override { return tables_.sites.get(); }
    SiteNames site_names() const override { return tables_.site_names; }

    /// The mean of all streams.
    double progress() const override {
        double sum = 0;
        for (const auto& producer : producers_) {
            const double part = producer->progress();
            if (part < 0) return -1.0;
            sum += part;
        }
        return producers_.empty() ? 1.0 : sum / static_cast<double>(producers_.size());
    }

protected:
    std::vector<std::unique_ptr<BlockProducer>> producers_;

private:
    TraceTables tables_;
};

/// Decodes when asked.
class DirectSource final : public BlockSource {
public:
    DirectSource(std::vector<std::unique_ptr<BlockProducer>> producers, TraceTables tables)
        : BlockSource(std::move(producers), std::move(tables)), lanes_(producers_.size()) {}

    Batch next(unsigned core) override {
        Lane& lane = lanes_.at(core);
        if (lane.cursor.finished()) {
            wish_.produce(*producers_[core], lane.block);
            lane.cursor.enter(lane.block);
        }
        return lane.cursor.next();
    }
    void wish(const std::optional<FilterPlan>& plan) override { wish_.set(plan); }

private:
    struct Lane {
        ReferenceBlock block;
        Cursor cursor;
    };
    Wish wish_;
    std::vector<Lane> lanes_;
};

/// Decodes in one background thread for all streams.
class AheadSource final : public BlockSource {
public:
    AheadSource(std::vector<std::unique_ptr<BlockProducer>> producers, TraceTables tables)
        : BlockSource(std::move(producers), std::move(tables)), lanes_(producers_.size()) {
        worker_ = std::thread([this] { work(); });
    }
    ~AheadSource() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
        }
        for (const auto& producer : producers_) producer->cancel();
        room_.notify_all();
        worker_.join();
    }
    AheadSource(const AheadSource&) = delete;
    AheadSource& operator=(const AheadSource&) = delete;

    Batch next(unsigned core) override {
        Lane& lane = lanes_.at(core);
        if (lane.cursor.finished()) take_block(lane);
        return lane.cursor.next();
    }

    /// Blocks that are made already are as good without.
    void wish(const std::optional<FilterPlan>& plan) override {
        const std::lock_guard lock(mutex_);
        wished_ = plan;
    }

private:
    /// A ring of blocks: `made` are filled so far, `taken` handed over; the one that was taken last is still in use.
    struct Lane {
        std::array<ReferenceBlock, blocks_ahead> blocks;
        std::uint64_t made = 0, taken = 0;
        bool over = false;
        std::exception_ptr failure;
        Cursor cursor;

        bool has_room() const { return !over && made - taken + (taken > 0 ? 1 : 0) < blocks_ahead; }
    };

    void take_block(Lane& lane) {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return lane.made > lane.taken || lane.over; });
        if (lane.made == lane.taken) {
            if (lane.failure) std::rethrow_exception(lane.failure);
            throw std::logic_error("a source was asked for more after its end");
        }
        lane.cursor.enter(lane.blocks[lane.taken++ % blocks_ahead]);
        lock.unlock();
        room_.notify_one();
    }

    /// The stream that has fewest blocks ready, so that none starves; -1 where none has room.
    int neediest() const {
        int best = -1;
        std::uint64_t least = blocks_ahead;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const std::uint64_t ready = lanes_[i].made - lanes_[i].taken;
            if (!lanes_[i].has_room() || ready >= least) continue;
            best = static_cast<int>(i);
            least = ready;
        }
        return best;
    }

    void work() {
        std::unique_lock lock(mutex_);
        while (true) {
            int chosen = -1;
            const auto all_over = [&] {
                return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.over; });
            };
            room_.wait(lock, [&] { return stop_ || all_over() || (chosen = neediest()) >= 0; });
            if (stop_ || chosen < 0) return;
            Lane& lane = lanes_[static_cast<std::size_t>(chosen)];
            ReferenceBlock& block = lane.blocks[lane.made % blocks_ahead];
            wish_.set(wished_);
            lock.unlock();
            std::exception_ptr failure;
            try {
                wish_.produce(*producers_[static_cast<std::size_t>(chosen)], block);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            lane.failure = failure;
            lane.over = failure || block.last;
            if (!failure) ++lane.made;
            ready_.notify_all();
        }
    }

    std::vector<Lane> lanes_;
    std::mutex mutex_;
    std::condition_variable ready_, room_;
    bool stop_ = false;
    std::optional<FilterPlan> wished_;
    Wish wish_;  ///< the thread's
    std::thread worker_;
};

}  // namespace

std::unique_ptr<ReferenceSource> make_block_source(std::vector<std::unique_ptr<BlockProducer>> producers,
                                                   TraceTables tables, bool ahead) {
    if (ahead && usable_processors() > 1) return std::make_unique<AheadSource>(std::move(producers), std::move(tables));
    return std::make_unique<DirectSource>(std::move(producers), std::move(tables));
}

}  // namespace cachetally
