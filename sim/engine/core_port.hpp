// SPDX-License-Identifier: BSD-3-Clause
// CorePort: one way of a core's references into the hierarchy.
#pragma once

namespace cachetally {

class RequestPort;
class Tlb;

struct CorePort {
    RequestPort* port = nullptr;  ///< to the first cache
    Tlb* tlb = nullptr;           ///< may be null, like its port
    RequestPort* tlb_port = nullptr;
};

}  // namespace cachetally
