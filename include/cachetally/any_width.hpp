// SPDX-License-Identifier: BSD-3-Clause
// Sockets that bind to sockets of any usual bus width: the width is a type in TLM-2.0, and means nothing to whoever
// takes transactions of any length. Stands alone (C++17): TlmMonitor's header brings it along.
#pragma once

#include <tlm>

namespace cachetally::any_width {

using Forward = tlm::tlm_fw_transport_if<>;
using Backward = tlm::tlm_bw_transport_if<>;

template <unsigned width>
using TargetSide = tlm::tlm_base_target_socket_b<width, Forward, Backward>;
template <unsigned width>
using InitiatorSide = tlm::tlm_base_initiator_socket_b<width, Forward, Backward>;

/// A target socket of 32 bits (`Socket`) that is one of the other widths, too.
template <class Socket, unsigned... widths>
class TargetOf : public Socket, public TargetSide<widths>... {
public:
    using Socket::bind;
    using Socket::operator();
    explicit TargetOf(const char* name) : Socket(name) {}

    template <unsigned width>
    void bind(InitiatorSide<width>& initiator) {
        initiator.get_base_port()(get_base_interface());
        get_base_port()(initiator.get_base_interface());
    }
    /// To the target socket of a module inside.
    template <unsigned width>
    void bind(TargetSide<width>& inner) {
        get_base_export()(inner.get_base_export());
        inner.get_base_port()(get_base_port());
    }
    template <class Other>
    void operator()(Other& other) {
        bind(other);
    }

    // of all its sides
    sc_core::sc_port_b<Backward>& get_base_port() override { return Socket::get_base_port(); }
    const sc_core::sc_port_b<Backward>& get_base_port() const override { return Socket::get_base_port(); }
    sc_core::sc_export<Forward>& get_base_export() override { return Socket::get_base_export(); }
    const sc_core::sc_export<Forward>& get_base_export() const override { return Socket::get_base_export(); }
    Forward& get_base_interface() override { return Socket::get_base_interface(); }
    const Forward& get_base_interface() const override { return Socket::get_base_interface(); }
    unsigned get_bus_width() const override { return Socket::get_bus_width(); }
    sc_core::sc_type_index get_protocol_types() const override { return Socket::get_protocol_types(); }
    tlm::tlm_socket_category get_socket_category() const override { return Socket::get_socket_category(); }
};

/// An initiator socket of 32 bits (`Socket`) that is one of the other widths, too.
template <class Socket, unsigned... widths>
class InitiatorOf : public Socket, public InitiatorSide<widths>... {
public:
    using Socket::bind;
    using Socket::operator();
    explicit InitiatorOf(const char* name) : Socket(name) {}

    template <unsigned width>
    void bind(TargetSide<width>& target) {
        get_base_port()(target.get_base_interface());
        target.get_base_port()(get_base_interface());
    }
    /// To the initiator socket of the module around.
    template <unsigned width>
    void bind(InitiatorSide<width>& outer) {
        get_base_port()(outer.get_base_port());
        outer.get_base_export()(get_base_export());
    }
    template <class Other>
    void operator()(Other& other) {
        bind(other);
    }

    // of all its sides
    sc_core::sc_port_b<Forward>& get_base_port() override { return Socket::get_base_port(); }
    const sc_core::sc_port_b<Forward>& get_base_port() const override { return Socket::get_base_port(); }
    sc_core::sc_export<Backward>& get_base_export() override { return Socket::get_base_export(); }
    const sc_core::sc_export<Backward>& get_base_export() const override { return Socket::get_base_export(); }
    Backward& get_base_interface() override { return Socket::get_base_interface(); }
    const Backward& get_base_interface() const override { return Socket::get_base_interface(); }
    unsigned get_bus_width() const override { return Socket::get_bus_width(); }
    sc_core::sc_type_index get_protocol_types() const override { return Socket::get_protocol_types(); }
    tlm::tlm_socket_category get_socket_category() const override { return Socket::get_socket_category(); }
};

template <class Socket>
using Target = TargetOf<Socket, 8, 16, 64, 128, 256, 512, 1024>;
template <class Socket>
using Initiator = InitiatorOf<Socket, 8, 16, 64, 128, 256, 512, 1024>;

}  // namespace cachetally::any_width
