//! Names that rules may use, in the order in which the gateway's compiler (`seclang/vocabulary.ts`) numbers them. A test
//! holds both equal.

macro_rules! vocabulary {
    ($(#[$comment:meta])* $type:ident { $($name:ident = $text:literal,)* }) => {
        $(#[$comment])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $type { $($name),* }

        impl $type {
            pub const ALL: &'static [$type] = &[$($type::$name),*];
            const NAMES: &'static [&'static str] = &[$($text),*];

            pub fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

vocabulary! {
    /// A variable of a transaction: one value, or values by name.
    Variable {
        Args = "ARGS",
        ArgsNames = "ARGS_NAMES",
        ArgsGet = "ARGS_GET",
        ArgsGetNames = "ARGS_GET_NAMES",
        ArgsPost = "ARGS_POST",
        ArgsPostNames = "ARGS_POST_NAMES",
        ArgsCombinedSize = "ARGS_COMBINED_SIZE",
        Duration = "DURATION",
        Files = "FILES",
        FilesNames = "FILES_NAMES",
        FilesSizes = "FILES_SIZES",
        FilesCombinedSize = "FILES_COMBINED_SIZE",
        FullRequestLength = "FULL_REQUEST_LENGTH",
        HighestSeverity = "HIGHEST_SEVERITY",
        InboundDataError = "INBOUND_DATA_ERROR",
        MatchedVar = "MATCHED_VAR",
        MatchedVarName = "MATCHED_VAR_NAME",
        MatchedVars = "MATCHED_VARS",
        MatchedVarsNames = "MATCHED_VARS_NAMES",
        MultipartBoundaryQuoted = "MULTIPART_BOUNDARY_QUOTED",
        MultipartBoundaryWhitespace = "MULTIPART_BOUNDARY_WHITESPACE",
        MultipartCrlfLfLines = "MULTIPART_CRLF_LF_LINES",
        MultipartDataAfter = "MULTIPART_DATA_AFTER",
        MultipartDataBefore = "MULTIPART_DATA_BEFORE",
        MultipartFilename = "MULTIPART_FILENAME",
        MultipartHeaderFolding = "MULTIPART_HEADER_FOLDING",
        MultipartInvalidHeaderFolding = "MULTIPART_INVALID_HEADER_FOLDING",
        MultipartInvalidPart = "MULTIPART_INVALID_PART",
        MultipartInvalidQuoting = "MULTIPART_INVALID_QUOTING",
        MultipartLfLine = "MULTIPART_LF_LINE",
        MultipartMissingSemicolon = "MULTIPART_MISSING_SEMICOLON",
        MultipartName = "MULTIPART_NAME",
        MultipartPartHeaders = "MULTIPART_PART_HEADERS",
        MultipartStrictError = "MULTIPART_STRICT_ERROR",
        MultipartUnmatchedBoundary = "MULTIPART_UNMATCHED_BOUNDARY",
        OutboundDataError = "OUTBOUND_DATA_ERROR",
        QueryString = "QUERY_STRING",
        RemoteAddr = "REMOTE_ADDR",
        RemotePort = "REMOTE_PORT",
        ReqbodyError = "REQBODY_ERROR",
        ReqbodyErrorMsg = "REQBODY_ERROR_MSG",
        ReqbodyProcessor = "REQBODY_PROCESSOR",
        ReqbodyProcessorError = "REQBODY_PROCESSOR_ERROR",
        ReqbodyProcessorErrorMsg = "REQBODY_PROCESSOR_ERROR_MSG",
        RequestBasename = "REQUEST_BASENAME",
        RequestBody = "REQUEST_BODY",
        RequestBodyLength = "REQUEST_BODY_LENGTH",
        RequestCookies = "REQUEST_COOKIES",
        RequestCookiesNames = "REQUEST_COOKIES_NAMES",
        RequestFilename = "REQUEST_FILENAME",
        RequestHeaders = "REQUEST_HEADERS",
        RequestHeadersNames = "REQUEST_HEADERS_NAMES",
        RequestLine = "REQUEST_LINE",
        RequestMethod = "REQUEST_METHOD",
        RequestProtocol = "REQUEST_PROTOCOL",
        RequestUri = "REQUEST_URI",
        RequestUriRaw = "REQUEST_URI_RAW",
        ResponseBody = "RESPONSE_BODY",
        ResponseContentLength = "RESPONSE_CONTENT_LENGTH",
        ResponseContentType = "RESPONSE_CONTENT_TYPE",
        ResponseHeaders = "RESPONSE_HEADERS",
        ResponseHeadersNames = "RESPONSE_HEADERS_NAMES",
        ResponseProtocol = "RESPONSE_PROTOCOL",
        ResponseStatus = "RESPONSE_STATUS",
        Rule = "RULE",
        ServerAddr = "SERVER_ADDR",
        ServerName = "SERVER_NAME",
        ServerPort = "SERVER_PORT",
        StatusLine = "STATUS_LINE",
        Time = "TIME",
        TimeDay = "TIME_DAY",
        TimeEpoch = "TIME_EPOCH",
        TimeHour = "TIME_HOUR",
        TimeMin = "TIME_MIN",
        TimeMon = "TIME_MON",
        TimeSec = "TIME_SEC",
        TimeWday = "TIME_WDAY",
        TimeYear = "TIME_YEAR",
        Tx = "TX",
        UniqueId = "UNIQUE_ID",
        UrlencodedError = "URLENCODED_ERROR",
        Xml = "XML",
    }
}

vocabulary! {
    /// Name of an operator.
    OperatorName {
        BeginsWith = "beginsWith",
        Contains = "contains",
        ContainsWord = "containsWord",
        DetectSqli = "detectSQLi",
        DetectXss = "detectXSS",
        EndsWith = "endsWith",
        Eq = "eq",
        Ge = "ge",
        Gt = "gt",
        IpMatch = "ipMatch",
        Le = "le",
        Lt = "lt",
        NoMatch = "noMatch",
        Pm = "pm",
        Rx = "rx",
        Streq = "streq",
        Strmatch = "strmatch",
        UnconditionalMatch = "unconditionalMatch",
        ValidateByteRange = "validateByteRange",
        ValidateUrlEncoding = "validateUrlEncoding",
        ValidateUtf8Encoding = "validateUtf8Encoding",
        Within = "within",
    }
}

vocabulary! {
    /// A transformation of values.
    Transform {
        Base64Decode = "base64Decode",
        Base64DecodeExt = "base64DecodeExt",
        Base64Encode = "base64Encode",
        CmdLine = "cmdLine",
        CompressWhitespace = "compressWhitespace",
        CssDecode = "cssDecode",
        EscapeSeqDecode = "escapeSeqDecode",
        HexDecode = "hexDecode",
        HexEncode = "hexEncode",
        HtmlEntityDecode = "htmlEntityDecode",
        JsDecode = "jsDecode",
        Length = "length",
        Lowercase = "lowercase",
        Md5 = "md5",
        NormalizePath = "normalizePath",
        NormalizePathWin = "normalizePathWin",
        RemoveComments = "removeComments",
        RemoveCommentsChar = "removeCommentsChar",
        RemoveNulls = "removeNulls",
        RemoveWhitespace = "removeWhitespace",
        ReplaceComments = "replaceComments",
        ReplaceNulls = "replaceNulls",
        Sha1 = "sha1",
        SqlHexDecode = "sqlHexDecode",
        Trim = "trim",
        TrimLeft = "trimLeft",
        TrimRight = "trimRight",
        Uppercase = "uppercase",
        UrlDecode = "urlDecode",
        UrlDecodeUni = "urlDecodeUni",
        UrlEncode = "urlEncode",
        Utf8ToUnicode = "utf8toUnicode",
    }
}

vocabulary! {
    /// A switch of a transaction that `ctl` changes.
    Switch {
        AuditEngine = "auditEngine",
        ForceRequestBodyVariable = "forceRequestBodyVariable",
        ForceResponseBodyVariable = "forceResponseBodyVariable",
        RequestBodyAccess = "requestBodyAccess",
        RequestBodyLimit = "requestBodyLimit",
        RequestBodyProcessor = "requestBodyProcessor",
        ResponseBodyAccess = "responseBodyAccess",
        ResponseBodyLimit = "responseBodyLimit",
        ResponseBodyProcessor = "responseBodyProcessor",
        RuleEngine = "ruleEngine",
    }
}
