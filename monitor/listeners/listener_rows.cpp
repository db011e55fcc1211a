// SPDX-License-Identifier: BSD-3-Clause
#include "monitor/listeners/listener.hpp"

namespace cachetally {

std::span<const ListenerMaker> listener_rows() { return built_in_listeners; }

}  // namespace cachetally
