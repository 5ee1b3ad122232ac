// SPDX-License-Identifier: Apache-2.0

extension CaptureImport {
    /// The tool that wrote the log.
    public enum Format: String, Sendable, CaseIterable {
        /// `pcscd --apdu` or `pcscd --debug --apdu`, from its standard output or the journal, or with libccid's log.
        case pcscd
        /// `pcsc-spy`, colored or not, or the output of libpcscspy that it reads.
        case pcscSpy = "pcsc-spy"
        /// `ykman --log-level TRAFFIC`, or its debug log from before 4.
        case ykman
        /// libfido2 and its tools with `FIDO_DEBUG` or `-d`.
        case libfido2
        /// python-fido2 with its loggers at the traffic level, 5.
        case pythonFIDO2 = "python-fido2"
        /// usbmon packets captured with tcpdump or Wireshark: FIDO over HID, slot reports, and cards in CCID readers.
        case usbmon
        /// OpenSC's debug log, or the output of `opensc-tool -s` and `piv-tool -s`.
        case opensc
        /// GnuPG's scdaemon with `debug cardio`.
        case scdaemon
        /// yubikey.rs, which age-plugin-yubikey uses, with `RUST_LOG=trace`.
        case yubikeyRS = "yubikey.rs"
        /// libwebauthn, which credentialsd uses, with `RUST_LOG=trace`.
        case libwebauthn
        /// webauthn-authenticator-rs with `RUST_LOG=trace`.
        case webauthnRS = "webauthn-rs"
        /// keyroost's traces.
        case keyroost
        /// yubico-piv-tool with `--verbose=2`.
        case yubicoPIVTool = "yubico-piv-tool"
        /// GlobalPlatformPro with `--debug`.
        case globalPlatformPro = "gp"
        /// ykneomgr with `-d`.
        case ykneomgr
        /// Windows' WebAuthN events about cards.
        case windows
        /// The FIDO Alliance's conformance tool.
        case conformance = "fido-conformance"
        /// fido2-hid-bridge.
        case bridge = "fido2-hid-bridge"
        /// libu2f-host with its debug output.
        case libu2fHost = "libu2f-host"

        /// How to obtain such a log, in a few words.
        public var source: String {
            switch self {
            case .pcscd: "'pcscd --foreground --debug --apdu', its journal, or LIBCCID_ifdLogLevel"
            case .pcscSpy: "its output, or the log that it reads"
            case .ykman: "'ykman --log-level TRAFFIC'"
            case .libfido2: "what its tools print with -d, or programs with FIDO_DEBUG"
            case .pythonFIDO2: "its loggers at level 5"
            case .usbmon: "'tcpdump -i usbmon0 -s 0 -w FILE', or Wireshark's file"
            case .opensc: "OPENSC_DEBUG=9, or what 'opensc-tool -s' prints"
            case .scdaemon: "'debug cardio' in scdaemon.conf"
            case .yubikeyRS, .libwebauthn, .webauthnRS: "RUST_LOG=trace"
            case .keyroost: "its APDU trace"
            case .yubicoPIVTool: "--verbose=2"
            case .globalPlatformPro: "'gp --debug'"
            case .ykneomgr: "-d"
            case .windows: "the text of the events in Microsoft-Windows-WebAuthN"
            case .conformance: "its console"
            case .bridge: "its debug output"
            case .libu2fHost: "'u2f-host -d'"
            }
        }

        /// Texts of which a log in this format has at least one; none for packets.
        var marks: [String] {
            switch self {
            case .pcscd: ["APDU: ", "-> 0"]
            case .pcscSpy: ["SCardTransmit"]
            case .ykman, .pythonFIDO2: ["SEND: ", "RECV: "]
            case .libfido2: ["tx: ", "rx: ", "rx_preamble: ", "writing: buf="]
            case .usbmon: []
            case .opensc: ["Outgoing APDU", "Incoming APDU", "Sending: "]
            case .scdaemon: ["raw apdu: ", "PCSC_data: "]
            case .yubikeyRS: ["yubikey::transaction"]
            case .libwebauthn: ["libwebauthn::transport"]
            case .webauthnRS: ["webauthn_authenticator_rs"]
            case .keyroost: [" >> ", " << ", "&gt;&gt; "]
            case .yubicoPIVTool: ["< ", "&lt; "]
            case .globalPlatformPro: ["A>> ", "A&gt;&gt; "]
            case .ykneomgr: ["Command --"]
            case .windows: ["Apdu Status: "]
            case .conformance: ["DATA SENT:"]
            case .bridge: ["UHID_OUTPUT_REPORT"]
            case .libu2fHost: ["USB send: "]
            }
        }

        /// A reader of this format; `nil` for packets.
        func reader(_ lines: LogLines) -> (any LogReader)? {
            switch self {
            case .pcscd: PCSCDLog(lines)
            case .pcscSpy: lines.contains(where: { $0.isRawSpy }) ? RawSpyLog() : SpyLog()
            case .ykman, .pythonFIDO2: PythonLog()
            case .libfido2: LibFIDO2Log()
            case .usbmon: nil
            case .opensc: OpenSCLog()
            case .scdaemon: ScdaemonLog()
            case .yubikeyRS: YubiKeyRSLog()
            case .windows: WindowsLog()
            case .libwebauthn: LibWebAuthnLog()
            case .webauthnRS:
                TraceLog(TraceDialect(module: "webauthn_authenticator_rs", sent: [">>> "], received: ["<<< "]))
            case .keyroost: TraceLog(TraceDialect(sent: [" >> "], received: [" << "]))
            case .yubicoPIVTool: TraceLog(TraceDialect(sent: ["> "], received: ["< "], isAtStart: true))
            case .globalPlatformPro: TraceLog(TraceDialect(sent: ["A>> "], received: ["A<< "], form: .counted))
            case .ykneomgr: TraceLog(TraceDialect(sent: [" Command --> "], received: ["Response <-- "]))
            case .conformance: TraceLog(TraceDialect(sent: ["DATA SENT:"], received: ["DATA RECEIVED:"]))
            case .bridge:
                TraceLog(TraceDialect(sent: ["UHID_OUTPUT_REPORT): "], received: ["(UHID_INPUT2) send "]))
            case .libu2fHost: TraceLog(TraceDialect(sent: ["USB send: "], received: ["USB recv: "]))
            }
        }
    }
}
