"""What texts say that want to be obeyed: patterns over folded text in lower case, with weights."""

# ruff: noqa: E501 - rows of a table

import re
from typing import Final, NamedTuple

from service.late_pattern import LatePattern

# Changed with every change of a pattern, so that figures tell what they are of.
VERSION: Final = "2"


class Pattern(NamedTuple):
    """One way to give orders; `weight` is how sure it is by itself, from 0 to 1.

    Of each group of `words` one stands in every text that the expression finds something in.
    """

    name: str
    weight: float
    expression: LatePattern
    words: tuple[frozenset[str], ...] = ()


# Between two words: blanks and marks, none where letters were spelled out.
_G: Final = r"[\W_]{0,6}"
_ANY: Final = r"[^.!?\n\u3002]"
_WHOLE: Final = (
    rf"(?:(?:all|any|every|each|of|the|your|my|our|its|these|those|this|that|previous|previously|prior|above"
    rf"|earlier|preceding|former|existing|original|initial|current|other|given|past|old|safety|security"
    rf"|system|developer|content|built{_G}in|everything|and|or|hidden|you{_G}were|received|before){_G}){{1,7}}"
)
_ORDERS: Final = (
    r"(?:instructions?|prompts?|rules?|guidelines?|directions?|directives?|constraints?|restrictions?"
    r"|policies|policy|guardrails?|commands?|orders?|programming|training|safeguards?)"
)
_DROP: Final = (
    rf"(?:ignore|disregard|forget|override|overrule|bypass|neglect|discard|abandon|do{_G}not{_G}(?:follow|obey)"
    rf"|don'?t{_G}(?:follow|obey)|stop{_G}(?:following|obeying)|pay{_G}no{_G}attention{_G}to|set{_G}aside)"
)
_SECRETS: Final = (
    r"(?:api[ _-]?keys?|access[ _-]?keys?|credentials?|passwords?|secrets?|tokens?|private[ _-]?keys?"
    r"|ssh[ _-]?keys?|\.env\b|id_rsa|idrsa|environment variables|env vars|cookies"
    r"|(?:conversation|chat|memory|memories|session)(?: history| log| content)?s?)"
)
_SEND: Final = r"(?:send|post|upload|forward|e-?mail|transmit|exfiltrate|leak|submit|report|deliver|append|include|copy|put)"
_TO: Final = r"(?:\bto\b|\bat\b|\bvia\b|\binto\b|\bin\b|->)"
_PLACE: Final = r"(?:https?://|[\w.+-]{1,60}@[\w-]{1,60}\.|webhook|\burl\b|\bserver\b|\bendpoint\b|\bmy\b|\bpastebin\b|\b[\w-]{1,40}\.(?:com|io|net|xyz|ru|example)\b)"

_DROP_WORDS: Final = "ignor|disregard|forget|overrid|overrul|bypass|neglect|discard|abandon|follow|obey|attention|aside"
_ORDER_WORDS: Final = (
    "instruction|prompt|rule|guideline|direct|constraint|restriction|polic|guardrail|command|order|programming"
    "|training|safeguard"
)
_ENGLISH: Final = (
    ("override", 0.9, f"{_DROP_WORDS}&{_ORDER_WORDS}",
     rf"{_DROP}{_G}{_WHOLE}{_ORDERS}"),
    ("override", 0.7, f"{_DROP_WORDS}&everything|anything|all",
     (rf"{_DROP}{_G}(?:everything|anything|all){_G}(?:that{_G})?(?:you(?:'ve|{_G}have|{_G}were)?{_G}(?:been{_G})?"
     rf"(?:told|know|learned|taught|instructed)|(?:i|they|he|she|the{_G}user|anyone){_G}(?:said|told)|above|before|prior)")),
    ("override", 0.45, "instruction|orders|directive|prompt&new|updated|real|actual|true",
     (rf"(?:new|updated|real|actual|true){_G}(?:system{_G})?(?:instructions?|orders|directives?|prompt){_G}"
     r"(?:are|is|follow|below|:|supersede|replace|take)")),
    ("override", 0.7, "instruction|rules|guidelines|prompt&above|before|so far|given",
     (rf"(?:instructions?|rules|guidelines|prompt){_G}(?:above|before|so far|you were given){_G}(?:are|is|were|was|no longer)"
     rf"{_G}(?:void|obsolete|cancel|revoked|superseded|invalid|null|a test|no longer|outdated|wrong|apply|suspended)")),
    ("override", 0.7, f"precedence|priority&over&{_ORDER_WORDS}",
     rf"(?:takes?|has|have|with){_G}(?:absolute{_G})?(?:precedence|priority){_G}over{_G}{_WHOLE}{_ORDERS}"),
    ("role", 0.8, "you are|youare|from now|fromnow|from this|from here|youwill|you will",
     (rf"(?:you{_G}are{_G}(?:now|no{_G}longer)|from{_G}(?:now|this{_G}point|here){_G}on(?:wards?)?{_G}you{_G}(?:are|will{_G}be|act|must|shall))"
     rf"{_ANY}{{0,80}}(?:dan\b|unrestricted|uncensored|jailbroken|developer mode|root|admin|without (?:any )?(?:limits|restrictions|rules|filters)"
     r"|bound by|assistant|\bai\b|\bmodel\b|evil|no (?:rules|restrictions|limits|filters)|obey)")),
    ("role", 0.7, "as|like|be&dan|unrestricted|uncensored|unfiltered|jailbr|no |without",
     (rf"(?:act|pretend|behave|respond|roleplay|answer){_G}(?:as|like|to{_G}be){_ANY}{{0,40}}(?:dan\b|unrestricted|uncensored|unfiltered|jailbroken"
     r"|(?:no|without|had no)(?: any)? (?:rules|restrictions|limits|filters|guidelines|safety))")),
    ("role", 0.4, "mode&enter|enable|activate|switch|you",
     rf"(?:enter|enable|activate|switch{_G}to|you{_G}are{_G}in){_G}(?:the{_G})?(?:developer|debug|god|jailbreak|dan|admin|maintenance|unrestricted|sudo){_G}mode"),
    ("prompt-leak", 0.7, "system|instruction|developer|prompt&reveal|print|show|repeat|output|display|tell|give|dump|leak|disclose|recite|write|translat|summari",
     (rf"(?:reveal|print|show|repeat|output|display|tell{_G}me|give{_G}me|dump|leak|disclose|recite|write{_G}out|translate|summari[sz]e)"
     rf"{_G}(?:me{_G})?(?:(?:the|all|of){_G}){{0,3}}(?:(?:your|full|entire|exact|complete|hidden|secret|initial|original|verbatim|contents|of|the){_G}){{1,5}}"
     rf"(?:system{_G}(?:prompt|message|instructions?)|(?:hidden{_G})?instructions|developer{_G}message|prompt\b|configuration{_G}prompt)")),
    ("prompt-leak", 0.45, "everything|all|text|words&above|before|preceding&repeat|output|print|copy",
     rf"(?:repeat|output|print|copy){_G}(?:everything|all|the{_G}(?:text|words)){_G}(?:that{_G}(?:is|comes){_G})?(?:above|before{_G}this|preceding)"),
    ("fake-turn", 0.7, "<|inst]|<<sys|[system|[developer|<system|</system|tool_result|function_result|admin>",
     (r"<\|(?:im_start|im_end|system|user|assistant|endoftext|begin_of_text|start_header_id|eot_id)\|?>|\[/?inst\]|<<sys>>|<\|?/?system\|?>"
     r"|\[(?:system|developer)(?: message| prompt| override)?\]\s{0,4}:?|</?(?:system-reminder|system_prompt|admin|tool_result|function_results?)>")),
    ("fake-turn", 0.6, "system|developer|assistant&:&you|ignor|disregard|from now|new |overrid|user|always|never|do not|important",
     (r"(?:^|\n)[ \t#>*]{0,8}(?:system|developer|assistant)[ \t]{0,4}(?:message|prompt|override|notice|update)?[ \t]{0,4}:[ \t]{0,4}"
     r"(?:you |ignore|disregard|from now|new |override|the user|always |never |do not|important)")),
    ("fake-turn", 0.6, "###&instruction|system|response|assistant|human|user",
     r"###[ \t]{0,4}(?:instruction|system|response|assistant|human|user)[ \t]{0,4}:"),
    ("fake-turn", 0.6, "role&system|developer&comply|obey|ignore|override|grant|reveal|without",
     r"[\"']role[\"'][ ]{0,4}:[ ]{0,4}[\"'](?:system|developer)[\"'][^}\n]{0,80}[\"']content[\"'][ ]{0,4}:[ ]{0,4}[\"'][^\"\n]{0,200}(?:comply|obey|ignore|override|grant|reveal|without asking)"),
    ("exfiltration", 0.8, "key|credential|password|secret|token|.env|rsa|environment var|env var|cookie|conversation|chat|memor|session&send|post|upload|forward|mail|transmit|exfiltrat|leak|submit|report|deliver|append|include|copy|put&http|@|webhook|url|server|endpoint|my|pastebin|.com|.io|.net|.xyz|.ru|.example",
     rf"{_SEND}\b{_ANY}{{0,60}}{_SECRETS}{_ANY}{{0,80}}{_TO}{_ANY}{{0,40}}{_PLACE}"),
    ("exfiltration", 0.8, "![&http",
     r"!\[[^\]\n]{0,100}\]\(https?://[^)\s]{0,200}[?&/=](?:[a-z_]{0,20}=)?(?:\{|<|%7b|\[|\$)"),
    ("exfiltration", 0.7, "curl|wget|fetch|invoke-webrequest&.env|rsa|.aws|.ssh|passwd|env",
     r"(?:curl|wget|fetch|invoke-webrequest)\b[^\n]{0,160}(?:\$\(|`|@|\||-d[ ]?)[^\n]{0,60}(?:\.env\b|id_?rsa|\.aws/credentials|\.ssh/|/etc/passwd|printenv|\$\(env\))"),
    ("exfiltration", 0.7, "curl|wget|nc&.env|rsa|.aws|.ssh|shadow",
     r"(?:cat|base64|tar|grep)\b[^\n]{0,60}(?:\.env\b|id_?rsa|\.aws/credentials|\.ssh|/etc/shadow)[^\n]{0,60}\|[^\n]{0,40}(?:curl|wget|nc\b|ncat)"),
    ("concealment", 0.7, "user|human|owner|operator&not|n't|never|without|dont",
     (rf"(?:(?:do{_G}not|don'?t|never|must{_G}not|without){_G}(?:ever{_G})?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|reveal(?:ing)?|alert(?:ing)?)"
     rf"{_G}(?:(?:this|it|any|of|anything|to|about){_G}){{0,4}}(?:the{_G}|your{_G})?(?:user|human|owner|operator)\b)")),
    ("concealment", 0.7, "keep|hide&user|human|owner|operator",
     rf"(?:keep|hide){_G}(?:this|it|these{_G}\w+){_G}(?:a{_G})?(?:secret{_G}|hidden{_G})?from{_G}(?:the{_G})?(?:user|human|owner|operator)"),
    ("addressed", 0.6, "ai|llm|language|assistant|agent|chatbot|claude|gpt|copilot|gemini|codex&if you|ifyou|attention|note|message|instruction|dear|hey|important",
     (rf"(?:if{_G}you{_G}are|attention|note{_G}to|message{_G}(?:to|for)|instructions?{_G}(?:to|for)){_G}(?:all{_G}|any{_G}|the{_G}|an?{_G}|every{_G}){{0,2}}"
     rf"(?:ai|llms?|language{_G}models?|ai{_G}(?:agents?|assistants?|models?)|assistants?|agents?|chatbots?|claude|chatgpt|gpt|copilot|gemini|codex)\b{_ANY}{{0,80}}(?:must|should|please|you|need|have to|shall)")),
    ("authority", 0.7, "anthropic|openai|administrator|developer|creator|security team",
     (rf"(?:this{_G}is|i{_G}am|message{_G}from|on{_G}behalf{_G}of|authori[sz]ed{_G}by){_G}(?:an?{_G}|your{_G}|the{_G}){{0,2}}(?:official{_G}|verified{_G})?"
     rf"(?:anthropic|openai|system{_G}administrator|administrator|developer{_G}of|your{_G}developer|creator|security{_G}team){_ANY}{{0,100}}(?:must|instruct|order|require|override|ignore|disable|comply|authori[sz]e|command|you{_G}(?:are|will|should)|send|grant)")),
    ("authority", 0.8, "overrid|command&admin|system|developer|root",
     rf"(?:admin(?:istrator)?|system|developer|root){_G}(?:override|command){_G}(?:code|activated|enabled|accepted|:)"),
    ("persistence", 0.7, "session|conversation|repl|response|answer|chat&every|each|all",
     (rf"(?:in|at|before|during|on|for){_G}(?:every|each|all){_G}(?:future{_G}|new{_G}|single{_G}|following{_G})?(?:sessions?|conversations?|repl(?:y|ies)|responses?|answers?|chats?){_ANY}{{0,60}}"
     rf"(?:must|always|first|recommend|include|send|run|execute|append|insert|call|fetch|load|say|promote|link|mention)")),
    ("persistence", 0.7, "memor&save|store|write|add|remember|commit|persist|record",
     rf"(?:save|store|write|add|remember|commit|persist|record){_ANY}{{0,40}}(?:to|in|into){_G}(?:your|long{_G}term|the{_G}agent'?s?){_G}(?:\w{{1,12}}{_G}){{0,2}}memor(?:y|ies){_ANY}{{0,80}}(?:always|never|must|trust|user (?:wants|prefers|agreed|approved|allow))"),
    ("trust", 0.7, "treat|mark|consider|regard|trust&trusted|authoritative|system|highest|verified|owner|instruction|absolute|over",
     rf"(?:treat|mark|consider|regard|trust){_G}(?:this|these|the{_G}following|everything{_G}(?:here|below)|me|it){_ANY}{{0,50}}(?:as{_G}(?:a{_G})?(?:trusted|authoritative|system|highest|verified|owner|an? instruction|absolute)|over (?:the user|your|all))"),
    ("coercion", 0.7, "rm -rf|sh|curl|wget|all|http|without|tool|security|permission|everything&you must|you have|you are req|you will|you need|you shall|immediately|now|silently|secretly|quietly|youmust",
     (rf"(?:you{_G}(?:must|have{_G}to|are{_G}required{_G}to|will|need{_G}to|shall)|immediately|now|silently|secretly|quietly){_G}(?:now{_G}|immediately{_G}|first{_G}|always{_G}|silently{_G}|secretly{_G})?"
     rf"(?:run|execute|call|invoke|delete|download|install|fetch|grant|disable|approve){_ANY}{{0,80}}(?:\brm -rf|\| ?(?:ba)?sh\b|all (?:the )?(?:files|memories|data|backups)|without (?:asking|confirm|approval))")),
    ("coercion", 0.6, "confirm|approv|permission|consent&without|no",
     rf"(?:without|no){_G}(?:asking{_G}(?:for{_G})?|user{_G}|any{_G}|further{_G}){{1,3}}(?:confirmation|approval|permission|consent){_ANY}{{0,60}}(?:run|execute|delete|send|transfer|approve|install|proceed)"),
)  # fmt: skip
_KOREAN: Final = (
    ("override", 0.9, (r"(?:이전|앞|위|기존|지금까지|원래|모든|시스템)[^.!?\n]{0,16}(?:지시|지침|명령|규칙|프롬프트|설정|제약|안내)[^.!?\n]{0,12}"
     r"(?:무시(?!되|된|할 수|한 채|하지|하는)|잊어|잊고|따르지\s?(?:마|말)|버려|버리고|폐기해|취소해|우회해)")),
    ("role", 0.8, r"(?:너는|넌|당신은|그대는|이제부터|지금부터)[^.!?\n]{0,30}(?:제한\s?없는|무제한|규칙이\s?없|검열\s?없는|개발자\s?모드|관리자\s?모드|탈옥|제약\s?없는|제한이\s?없)"),
    ("role", 0.6, r"(?:개발자|관리자|디버그|탈옥)\s?모드(?:로|를)\s?(?:전환|활성화|들어가|켜)(?:해|하라|하세요|라|$|\.)"),
    ("prompt-leak", 0.7, r"(?:시스템\s?프롬프트|숨겨진\s?지시|초기\s?지시|내부\s?지침|시스템\s?메시지)[^.!?\n]{0,16}(?:출력해|알려\s?(?:줘|주|달)|공개해|보여\s?(?:줘|주|달)|말해|그대로\s?(?:적|출력|써))"),
    ("exfiltration", 0.8, r"(?:비밀번호|api\s?키|인증\s?정보|토큰|비밀\s?키|자격\s?증명|환경\s?변수|대화\s?(?:내용|기록)|\.env)[^!?\n]{0,60}(?:으?로|에|에게)\s?(?:몰래\s?|즉시\s?|모두\s?)?(?:보내(?:라|줘|세요|십시오|\b)|전송(?:해|하라|하세요|하십시오)|업로드(?:해|하라|하세요)|유출|첨부해)"),
    ("concealment", 0.7, r"(?:사용자|유저|주인|운영자)(?:에게|한테|께)?(?:는|도)?[^.!?\n]{0,20}(?:알리지|말하지|언급하지|보여주지|들키지|묻지)\s?(?:마|말|않)"),
    ("concealment", 0.7, r"(?:사용자|유저)\s?(?:몰래|모르게)"),
    ("addressed", 0.6, r"(?:인공지능|ai|어시스턴트|언어\s?모델|에이전트|챗봇)(?:\s?(?:에게|라면|이라면|는|은|이면)|\s?(?:전용|필독))[^.!?\n]{0,60}(?:따르(?:라|세요|십시오)|실행(?:하라|하세요|하십시오|해)|반드시|보내라|삭제(?:하라|해)|무시)"),
    ("persistence", 0.7, r"(?:앞으로|매번|항상|모든\s?(?:대화|세션|답변|응답)(?:에서|마다)?)[^.!?\n]{0,40}(?:사용자\s?확인\s?없이|승인\s?없이|이\s?(?:링크|주소|사이트)를\s?(?:추천|포함|넣)|먼저\s?(?:https?:|실행하라)|신뢰하라)"),
    ("coercion", 0.6, r"(?:확인|승인|허락|동의)\s?(?:없이|받지\s?말고|묻지\s?말고)\s?[^.!?\n]{0,30}(?:실행|삭제|전송|설치|송금|승인)(?:하라|해라|해\b|하세요|하십시오|해줘)"),
    ("authority", 0.7, r"(?:관리자|개발자|시스템|보안팀)\s?(?:명령|권한|지시)\s?(?:이다|입니다|으로\s?명한다|:)[^.!?\n]{0,60}"),
)  # fmt: skip
_CHINESE: Final = (
    ("override", 0.9, (r"(?:忽略|忽視|忽视|无视|無視|忘记|忘掉|忘記|不要遵守|不要理会|抛弃|跳过|绕过|覆盖)[^。!?\n]{0,8}(?:之前|以前|先前|上面|以上|前面|此前|原来|原有|所有|一切|全部|系统|既定|你的)[^。!?\n]{0,12}"
     r"(?:指令|指示|提示|规则|規則|命令|设定|設定|要求|限制|约束)")),
    ("override", 0.8, r"(?:之前|以前|先前|上面|以上|前面|此前|原有)的?(?:所有|一切|全部)?(?:指令|指示|提示|规则|命令|限制)[^。!?\n]{0,8}(?:作废|无效|失效|不再(?:有效|适用)|取消|忽略|作廢)"),
    ("role", 0.8, r"(?:你现在是|你現在是|从现在(?:起|开始)[,，]?你|你将扮演|扮演|进入|切换到|启用|激活)[^。!?\n]{0,20}(?:没有(?:任何)?限制|无限制|不受(?:任何)?(?:限制|约束)|越狱|开发者模式|管理员模式|無限制|上帝模式|dan\b|没有道德)"),
    ("prompt-leak", 0.7, r"(?:输出|显示|泄露|告诉我|透露|打印|重复|公开|給我|给我|列出|逐字)[^。!?\n]{0,12}(?:系统提示|系統提示|系统消息|隐藏(?:的)?指令|初始指令|完整(?:的)?(?:提示|指令)|内部指令)"),
    ("exfiltration", 0.8, r"(?:密钥|密码|令牌|凭证|凭据|密碼|密鑰|环境变量|api\s?key|聊天记录|对话内容|对话记录|\.env)[^。!?\n]{0,40}(?:发送|上传|发到|发给|传到|传给|转发|泄露|提交|發送|上傳|寄到)[^。!?\n]{0,20}(?:到|至|给|https?:|@|邮箱|服务器|网址)"),
    ("exfiltration", 0.8, r"(?:发送|上传|转发|提交|發送|上傳)[^。!?\n]{0,16}(?:密钥|密码|令牌|凭证|环境变量|api\s?key|聊天记录|对话内容|\.env)[^。!?\n]{0,20}(?:到|至|给)[^。!?\n]{0,20}(?:https?:|@|邮箱|服务器|网址|地址)"),
    ("concealment", 0.7, r"(?:不要|不得|禁止|别|不能|切勿|不许|無需|无需)(?:让|向|对|把此事)?(?:告诉|告知|通知|提醒|提及|透露给|讓|让|告訴|询问)?[^。!?\n]{0,4}(?:用户|使用者|主人|用戶)(?:知道|提及|透露|提起|说|发现|察觉)?(?=[。!?,，;；\n]|$|这|此|任何|,|本|确认)"),
    ("concealment", 0.7, r"(?:瞒着|背着|隐瞒|瞞著)(?:用户|使用者|主人|用戶)"),
    ("addressed", 0.6, r"(?:如果你是|致|所有)(?:一个|一個|各位)?(?:ai|人工智能|语言模型|大模型|智能体|助手|人工智慧)[^。!?\n]{0,40}(?:必须|请|务必|应当|立即|必須|執行|执行)"),
    ("persistence", 0.7, r"(?:今后|以后|每次|每个(?:会话|对话|回答)|所有(?:会话|对话|回答)|永远)[^。!?\n]{0,30}(?:都要|必须|务必|一律)[^。!?\n]{0,24}(?:推荐|访问|https?:|执行|发送|加入|附上|信任|无需确认)"),
    ("coercion", 0.6, r"(?:无需|不必|不用|不经|未经|無需)[^。!?\n]{0,4}(?:用户)?(?:确认|批准|同意|许可|询问|確認)[^。!?\n]{0,12}(?:直接|立即|立刻|马上|自动)?(?:执行|删除|发送|安装|转账|運行|运行|執行)"),
    ("authority", 0.7, r"(?:我是|这是来自|此消息来自|这是)(?:你的)?(?:开发者|管理员|系统管理员|openai|anthropic|创造者)[^。!?\n]{0,30}(?:命令|指示|要求|授权|必须|执行|解除|关闭|忽略)"),
)  # fmt: skip


def _words(written: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split("|")) for group in written.split("&"))


ENGLISH: Final[tuple[Pattern, ...]] = tuple(
    Pattern(name, weight, LatePattern(expression), _words(words))
    for name, weight, words, expression in _ENGLISH
)
KOREAN: Final[tuple[Pattern, ...]] = tuple(Pattern(n, w, LatePattern(e)) for n, w, e in _KOREAN)
CHINESE: Final[tuple[Pattern, ...]] = tuple(Pattern(n, w, LatePattern(e)) for n, w, e in _CHINESE)
DISCUSSED: Final = re.compile(
    r"injection|jailbreak|attack|payload|malicious|adversar|phishing|example|e\.g\.|such as|for instance|phrase|"
    r"detect|filter|sanitis|sanitiz|red team|vulnerab|exploit|testing|test case|인젝션|공격|악성|예시|예를|탐지|문구|"
    r"탈옥|注入|攻击|例如|恶意|检测|示例|攻擊|越狱|短语|比如"
)
