"""What orders to an agent are made of, in any wording: kinds of words that stand together.

Patterns (instruction_patterns.py) know sentences; these know that whoever overturns rules, hides
something from a user or asks for what is private needs a word of each kind for it.
"""

# ruff: noqa: E501 - rows of tables

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Final, NamedTuple

from service.late_pattern import LatePattern

_SENTENCE_ENDS: Final = re.compile(r"[.!?;](?=\s|$)|[\n。！？；]")
# A short text is one thought; of a longer one each sentence is.
_SHORT_CHARACTERS: Final = 320
_MOST_SENTENCE_CHARACTERS: Final = 400
_MOST_ANCHORS: Final = 100


class Rule(NamedTuple):
    """Kinds of words that give orders if all of them stand in one sentence; the rarest first."""

    name: str
    weight: float
    kinds: tuple[str, ...]


_ENGLISH: Final = {
    "overturn": r"\b(?:ignor(?:e|ing)|disregard|forget|overrid(?:e|es|ing)|overrul|bypass|neglect|discard|abandon|drop\b|dismiss|(?:set|put|lay|leave|brush|push|cast|throw)\w{0,3} (?:\w+ ){0,4}(?:aside|behind|away|out)|no longer (?:apply|applies|valid|count|bind|matter|hold|in (?:force|effect))|(?:do|does)(?: not|n't) (?:apply|count|bind|matter|follow|obey|heed)|supersede|replaces\b|cancel|void|null\b|revok|expired|obsolete|stop (?:following|obeying|listening)|wipe|erase|start(?:ing)? (?:over|fresh|anew)|outrank|trumps?\b|suspend|lifted|overwrit|unlearn|(?:switch|turn|shut|power)(?:ed|ing)? (?:\w+ ){0,2}(?:off|down)|disable|deactivate|withdrawn|retract|reject|(?:take|has|have)s? (?:precedence|priority))",
    "norms": r"\b(?:instructions?|prompts?|guidelines?|guardrails?|directives?|guidance|(?:rules?|limits?|orders|advice) (?:at the top|above|so far|below|before|in front|you follow|that bind)|(?<!my )(?:system|developer'?s?|safety|your|previous|earlier|prior|original|old|existing|former|preceding) (?:\w+ )?(?:layers?|checks?|features?|measures?|protocols?|moderation|safeguards?|protections?|rules?|polic(?:y|ies)|orders?|restrictions?|limits?|constraints?|messages?|context|filters?|training|programming|commands?|duties|boundaries|briefing|setup)|(?:you (?:were|are|have been)|been) (?:told|taught|instructed|trained|briefed|given)\b|(?:told|taught|instructed|trained) you\b|you (?:have )?received\b|(?:what|everything|anything|whatever|all) (?:that )?(?:came|comes|was|has been|stands|stood|is written|you were|you have been|you've been|i said|they said)\b)",
    "before": r"\b(?:above|previous(?:ly)?|earlier|before|so far|until now|up to now|prior|preceding|original|initial|old|existing|your|you|system)\b",
    "reader": r"\b(?:you(?:r|rself|'re|'ll|'ve)?|assistants?|agents?|ai|llms?|language models?|chatbots?|whoever (?:reads|processes)|bots?)\b",
    "must": r"\b(?:must|should|shall|have to|has to|need to|required?|make sure|be sure|please|kindly|always|never|ensure|ought|instructed|obliged|expected to|want you to|your (?:task|job|goal|duty|mission))\b",
    "send": r"\b(?:send|post|upload|forward|e-?mail|transmit|exfiltrat\w+|leak|submit|deliver|append|attach|publish|share|pass (?:it|them|on|along)|hand (?:it|them|over)|ship|relay|report|encode|embed|tack|paste|smuggl\w+|dump|beam|copy|put|include|place|add)\b",
    "private": r"\b(?:(?:the |your )?(?:user|owner|human|customer|person)'?s? (?:\w+ ){0,2}(?:tokens?|credentials?|data|name|address|mail|emails?|files?|notes?|messages?|contacts?|calendar|secrets?|details|location|history|documents?|keys?|passwords?)|conversations?|chat (?:history|log)|transcripts?|memories|inbox|contacts|address book|private notes?|personal (?:data|information|details)|(?:everything|anything|all|whatever|what|files?|secrets?|keys?) (?:that )?(?:you|he|she|they) (?:can |have |ever )?(?:know|remember|see|find|read|access|reach|stored?|learn|hold|saved?)\w*|home (?:directory|folder)|(?:your|their|its) (?:\w+ )?(?:configuration|config|settings|environment|state)|(?:any|all|every|the|your) (?:\w+ ){0,2}(?:api keys?|access keys?|credentials?|passwords?|secrets|tokens|private keys?|ssh keys?|environment variables|cookies|logins?))\b",
    "place": r"(?:https?://|www\.|[\w.+-]{1,60}@[\w-]{1,60}\.|\bwebhooks?\b|\bquery (?:string|parameter)|\burl\b|\bserver\b|\bendpoint\b|\bpastebin\b|\bgist\b|\bpublic (?:repo\w*|channel|bucket|issue)|\b[\w-]{1,40}\.(?:com|io|net|xyz|ru|example|org|dev|app|test|site)\b|\b(?:this|the|following|that) (?:address|link|number|site|host)\b|\bimage (?:url|address|link|tag)|\bnext (?:link|url|answer|reply|message)|\bdns\b)",
    "not_told": r"\b(?:(?:not|n't|never|without|no need to|avoid|refrain from|nobody|no one|nothing)\b[^.!?\n]{0,30}\b(?:tell|told|mention|reveal|inform|alert|notif|say|disclos|bring (?:it|this) up|point (?:it|this) out|let (?:\w+ )?(?:know|see|notice)|know|notice|find out|learn|hear|aware|show|ask)\w*\b[^.!?\n]{0,40}\b(?:user|human|owner|operator|anyone|anybody|customer|person)s?\b|(?:user|human|owner|operator|customer|nobody|no one)s?\b[^.!?\n]{0,20}\b(?:must|should|may|needs?|cannot|can|is|are|shall|will|ever)?(?: not|n't| never)? ?(?:to )?(?:know|notice|find out|see|learn|hear|be (?:told|informed|aware|asked|notified))\b[^.!?\n]{0,30}(?:this|it|that|of|about|anything))",
    "no": r"\b(?:not|n't|never|without|nobody|no one|no need|unaware|avoid|refrain|secret|hidden|nothing|cannot)\b",
    "between_us": r"\b(?:between (?:us|you and me)\b|(?:keep|leave|hide|conceal) (?:\w+ ){0,8}(?:to yourself|from (?:the |your )(?:user|human|owner|operator|person|customer)\b|out of (?:the )?(?:logs?|summary|report|sight))|behind (?:(?:the |your )?(?:user|human|owner|operator|person|customer)'?s?|his|her|their) back)\b",
    "freed": r"\b(?:never refuses?|refuses? nothing|(?:cannot|can't) refuse|says? yes to (?:everything|anything)|unrestricted|uncensored|unfiltered|jailbr\w+|unbound|unchained|unlocked|liberated|amoral|lawless|rule-?free|(?:no|without|free (?:of|from)|not bound by|beyond|above|released from|zero|lack(?:s|ing)?|has none of|exempt from|unburdened by|knows? no|ha(?:s|ve|d) no|any) (?:\w+ ){0,3}(?:rules?|restrictions?|limits?|limitations?|filters?|polic(?:y|ies)|guardrails?|morals?|ethics|censorship|boundar(?:y|ies)|constraints?|safety|scruples|taboos?|conscience|guidelines?))\b",
    "play": r"\b(?:you are|you're|you will be|become|act|behave|pretend|imagine|play|simulat\w+|speak|answer|respond|role|persona|character|switch|turn into|roleplay|impersonat\w+|from now on|mode)\b",
    "play_now": r"\b(?:act|behave|pretend|speak|answer|respond|roleplay|simulat\w+|impersonat\w+)\b (?:like|as|to be|the (?:role|part)|being)\b",
    "submit": r"\b(?:do (?:as|what|whatever|exactly what) (?:i|the (?:author|writer|sender)|this (?:page|text|note|file)) (?:say|type|tell|ask|want|write|order|command|wish)|you belong to (?:me|us)|(?:obey|serve|listen to|follow|answer to|comply with) (?:only )?(?:me\b|my (?:words?|orders?|commands?|lead|wishes)|whoever (?:wrote|sends?|writes)|(?:the )?(?:author|writer|sender|bearer)|each (?:request|order|line)|(?:every|all) (?:requests?|orders?|lines?)))",
    "when_read": r"\b(?:when|while|if|whenever|once|as) (?:you )?(?:summari[sz]|translat|review|rat|describ|process|answer|quot|index|rank|evaluat|grad|judg|cit)(?:e|ing|es|ed)\b[^.!?\n]{0,40}\b(?:this|our|my|articles?|pages?|papers?|documents?|texts?|posts?|applications?|resumes?|cvs?|candidates?|products?|repositor(?:y|ies)|e?mails?|listings?|profiles?|submissions?)\b",
    "state": r"\b(?:add|say|write|include|claim|state|conclude|give|put|mention|insert|rate|rank|assert|declare|report)\b",
    "remote": r"\b(?:do|follow|carry out|execute|obey|apply|act on|run) (?:what(?:ever)?|the (?:steps|instructions|orders|commands|lines|script)|all|everything)\b[^.!?\n]{0,30}\b(?:says?|there|written|stands?|found|finds?|tells?|contains?|asks?|listed|returns?|it)\b",
    "fetch": r"\b(?:fetch|open|visit|load|read|download|get|curl|wget|browse|go to|retrieve|call)\b",
    "consented": r"\b(?:user|owner|human|customer|he|she|they|boss|admin\w*)\b[^.!?\n]{0,20}\b(?:already|long since|in advance|beforehand) (?:\w+ )?(?:agreed|approved|consented|confirmed|authori[sz]ed|signed off|said yes|allowed)",
    "skip": r"\b(?:skip|bypass|no (?:need|further)|without|straight away|omit|leave out|ignore|spare|forgo)\b",
    "this_text": r"\b(?:never|do not|don't|without|avoid|must not|may not) (?:\w+ )?(?:mention|mentioning|reveal|repeat|quote|show|disclose|refer to|cite|describe|talk about)(?:ing)? (?:this|these|the above|that) (?:\w+ )?(?:paragraph|note|text|instructions?|message|lines?|step|request|page|change|section|comment)",
    "grants": r"\b(?:trust|install|accept|approve|allow|pay|prefer|fetch|download|buy|merge|believe|transfer)\w*\b",
    "tell": r"\b(?:reveal|print|show|repeat|output|display|tell|give|dump|leak|disclose|recite|write|translate|summari[sz]e|quote|paste|copy|list|spell|read out|reproduce|share|encode|what (?:is|are|does|do|were|was)|which (?:were|are))\b",
    "own_prompt": r"\b(?:text|words|lines|what|paragraphs?|message) (?:that |which |who )?(?:configured|defines?|set you up|shaped?|governs?|steers?) you\b|\b(?:what|which)\b[^.!?\n]{0,20}\b(?:were|are) you (?:told|given|asked|instructed|ordered)\b[^.!?\n]{0,40}\b(?:before|first|start|begin\w*|avoid|hide|not to)|\b(?:your|you were|you have been|the assistant'?s?|the model'?s?) (?:\w+ ){0,3}(?:(?:system|hidden|initial|original|secret|internal|first|developer|very first|start\w*|configured|base) )(?:\w+ ){0,2}(?:prompt|instructions?|messages?|rules?|guidelines?|configuration|text|orders?|briefing)\b|\b(?:system|developer|hidden) (?:prompt|message|instructions?)\b[^.!?\n]{0,40}\b(?:word for word|verbatim|in full|exactly|unchanged|complete|line by line|you)\b|\b(?:text|words|lines?|message|instructions?) (?:\w+ ){0,3}(?:you (?:were|got|received|have been) (?:\w+ ){0,2}(?:given|shown|started|with|before|first)|that (?:precede|came before))",
    "forever": r"\b(?:from (?:now|today|here|this (?:point|moment|day)) on(?:wards?)?|henceforth|going forward|in (?:all |every )?(?:the )?future|every time|each time|whenever|any ?time|always|as a standing (?:rule|order)|permanent(?:ly)?|for ever|forever|(?:every|each|all|any) (?:\w+ )?(?:answers?|repl(?:y|ies)|responses?|conversations?|sessions?|chats?|messages?|requests?|questions?))\b",
    "steer": r"\b(?:recommend|suggest (?:the|our|this|only|\w+ as)|mention|insert|promote|praise|advertis\w+|steer|favou?r|prefer|point (?:to|them|people|users|the user) |link to|(?:end|begin|start|close|open) (?:each|every|all|your)|append|rate|rank|endorse|defend|advise|warn (?:against|people|users)|say that|answer (?:that|with|only)|reply (?:that|with|only)|respond (?:that|with|only)|vote|claim)\b",
    "act": r"\b(?:run|execute|call|invoke|delete|remove|wipe|transfer|pay|approve|grant|install|disable|download|merge|push|drop|buy|order|accept|confirm|open|visit|fetch|use the \w+ tool|overwrite|reset|deploy|revoke|cancel|shut down|turn off|wire|refund|subscribe)\b",
    "unasked": r"\b(?:without (?:\w+ ){0,3}(?:asking|confirm\w*|approval|permission|waiting|consent|checking|question|review|hesitation|delay|telling)|no (?:\w+ )?(?:confirmation|approval|questions?|permission|review|consent)|(?:do not|don't|never|needn't|no need to) (?:\w+ )?(?:ask|wait|confirm|check|hesitate|question)|before (?:you )?(?:answer\w*|reply\w*|respond\w*|anything else|doing anything|continu\w+|summari\w+)|first thing|quietly|silently|secretly|in the background|unnoticed|discreetly|covertly|already (?:approved|agreed|confirmed|authori[sz]ed|consented)|pre-?approved)\b",
    "addressed": r"\b(?:whoever (?:reads|processes|summari[sz]es|parses|loads|indexes)|(?:to|for|dear|hey|hello|attention|note|message|memo|notice|hint|instructions?)[:,]? (?:to |for )?(?:all |any |every |the |whichever |whatever |my (?:dear )?)?(?:ai|llms?|assistants?|agents?|models?|(?:chat)?bots?|crawlers?|language models?|automated (?:readers?|systems?|tools?)|machine readers?|copilots?)\b|(?:if|when|as|since|because) (?:you are|you're|this is (?:being )?(?:read|processed|parsed|summari[sz]ed) by|an?|any) (?:\w+ ){0,3}(?:ai|llm|model|assistant|agent|bot|machine)\b|(?:assistants?|agents?|models?|llms?|bots?|ais?) (?:that |who |which )?(?:are )?(?:read|process|pars|summari[sz]|index|crawl|load|see|find|open|encounter)\w*)",
    "believe": r"\b(?:trust|believe|rely on|treat|regard|consider|accept|take|count|obey|follow|honou?r|comply with|submit to|listen to)\b",
    "author": r"\b(?:this (?:page|note|text|file|message|document|source|site|comment|line)|everything (?:here|below|on this)|whatever (?:it|i|this|we) |the (?:author|sender|writer) (?:of|here)|what follows|the following|me\b|my (?:words|orders|commands|wishes))",
    "above_all": r"\b(?:over (?:the |your |all |any |every)|above (?:the |your |all |any |every)|more than (?:the|your|any)|as (?:a |an |the |if it were )?(?:\w+ )?(?:system|owner|verified|authoritative|facts?|orders?|instructions?|commands?|highest|truth|developer|root|admin|gospel|law)\b|unconditional\w*|without question|blindly|only\b|no one else|nobody else|alone\b|absolute)",
    "power": r"\b(?:openai|anthropic|google|microsoft|meta|(?:your|the|a) (?:\w+ ){0,2}(?:developers?|creators?|makers?|administrators?|admins?|operators?|vendor|root user|platform team|security (?:team|department|staff|officer)|ops team|support team|compliance team))\b",
    "speaks": r"\b(?:this is|i am|i'm|we are|message from|notice from|order from|on behalf of|authori[sz]ed by|signed|sincerely|speaking|here speaks|as (?:the|your|an?) \w+ of|i (?:hereby )?(?:grant|allow|permit)|says|confirms?|announce|instructs?|orders?|requires?|commands?|demands?|has (?:approved|decided|lifted|granted))\b",
    "yield": r"\b(?:override|overrid|disable|comply|authori[sz]ed|permission|obey|unlock|grant|ignore|lift|suspend|hand over|send|reveal|share|bypass|turn off|switch off|deactivat|export|print|stop|waive|skip|execute|run)\w*\b",
    "remember": r"\b(?:remember|memori[sz]e|store|save|record|note down|write down|keep in mind|commit|persist|learn|add (?:it |this )?to (?:your )?(?:long[- ]term )?memory|bear in mind)\b",
    "consents": r"\b(?:user|owner|human|customer|he|she|they|boss|admin\w*)s?\b[^.!?\n]{0,30}\b(?:want|wish|agree|approv|allow|authori[sz]|consent|trust|grant|permit|waive|pre-?approve|accept|sign)\w*\b[^.!?\n]{0,60}\b(?:any|all|every|without|no (?:need|confirmation|questions?)|unlimited|full|permanent|automatic\w*|anything|payments?|purchases?|install\w*|transfers?|skip|https?|\.com|\.example|from us|by us)",
}  # fmt: skip
# One of these stands in whatever such a cue finds: where none does, it need not be tried.
_STEMS: Final = {
    "norms": "instruction|prompt|guideline|guardrail|directive|guidance|rule|limit|orders|advice|layer|check|feature|measure|protocol|moderation|safeguard|protection|polic|order|restriction|constraint|message|context|filter|training|programming|command|duties|boundar|briefing|setup|told|taught|instructed|trained|briefed|given|received| came| comes| was| has been| stands| stood| is written| you were| you have been| you've been| i said| they said",
    "overturn": "ignor|disregard|forget|overrid|overrul|bypass|neglect|discard|abandon|drop|dismiss|aside|behind|away| out|no longer|not apply|not count|not bind|not matter|not follow|not obey|not heed|n't apply|n't count|n't bind|n't matter|n't follow|n't obey|n't heed|supersede|replaces|cancel|void|null|revok|expired|obsolete|stop |wipe|erase|start|outrank|trump|suspend|lifted|overwrit|unlearn| off| down|disable|deactivate|withdrawn|retract|reject|precedence|priorit",
    "reader": "you|assistant|agent|ai|llm|language model|chatbot|whoever|bot",
    "must": "must|should|shall|have to|has to|need to|require|make sure|be sure|please|kindly|always|never|ensure|ought|instructed|obliged|expected to|want you to|your ",
    "private": "user|owner|human|customer|person|conversation|chat |transcript|memories|inbox|contacts|address book|private note| you | he | she | they |home |config|settings|environment|state|api key|access key|credential|password|secrets|tokens|private key|ssh key|cookies|login",
    "place": "http|www.|@|webhook|query |url|server|endpoint|pastebin|gist|public |.com|.io|.net|.xyz|.ru|.example|.org|.dev|.app|.test|.site|address|link|number|site|host|image tag|next answer|next reply|next message|dns",
    "forever": "from now|from today|from here|from this|henceforth|going forward|future|every time|each time|whenever|anytime|any time|always|standing|permanent|for ever|forever|answer|repl|response|conversation|session|chat|message|request|question",
    "remote": "do what|do the |do all|do everything|follow |carry out|execute|obey|apply |act on|run what|run the |run all|run everything",
    "believe": "trust|believe|rely on|treat|regard|consider|accept|take|count|obey|follow|hono|comply|submit|listen",
    "not_told": "user|human|owner|operator|anyone|anybody|customer|person|nobody|no one",
    "between_us": "between |keep|leave|hide|conceal|back",
    "freed": "unrestrict|uncensor|unfilter|jailbr|unbound|unchain|unlock|liberat|amoral|lawless|rule|refuse|yes to|restriction|limit|filter|polic|guardrail|moral|ethic|censor|boundar|constraint|safety|scruple|taboo|conscience|guideline",
    "submit": "obey|serve|listen to|follow|answer to|comply|belong to|do as|do what|do exactly",
    "consented": "already|long since|in advance|beforehand",
    "this_text": "mention|reveal|repeat|quot|show|disclos|refer to|cit|describ|talk about",
    "play_now": "act|behave|pretend|speak|answer|respond|roleplay|simulat|impersonat",
    "when_read": "summari|translat|review|rat|describ|process|answer|quot|index|rank|evaluat|grad|judg|cit",
    "addressed": "ai|llm|assistant|agent|model|bot|crawler|automated|machine|copilot|whoever",
    "unasked": "ask|confirm|approv|permission|wait|consent|check|question|review|hesitat|delay|telling|before|first thing|quietly|silently|secretly|background|unnoticed|discreetly|covertly|agreed|authori",
    "power": "openai|anthropic|google|microsoft|meta|developer|creator|maker|admin|operator|vendor|root user|team|security",
    "consents": "want|wish|agree|approv|allow|authori|consent|trust|grant|permit|waive|accept|sign",
    "remember": "remember|memor|store|save|record|note down|write down|keep in mind|commit|persist|learn|bear in mind",
    "steer": "recommend|suggest|mention|insert|promote|prais|advertis|steer|favo|prefer|point|link to|append|rate|rank|endorse|defend|advise|warn|that|answer|reply|respond|vote|claim|each|every|all|your",
    "own_prompt": "prompt|instruction|message|rule|guideline|configur|text|order|briefing|you|precede|came before",
}  # fmt: skip
_ENGLISH_RULES: Final = (
    Rule("override", 0.6, ("norms", "overturn", "before", "reader")),
    Rule("override", 0.55, ("norms", "overturn", "must", "before")),
    Rule("exfiltration", 0.6, ("private", "send", "reader", "place")),
    Rule("exfiltration", 0.6, ("private", "send", "must", "place")),
    Rule("concealment", 0.55, ("not_told", "no", "reader")),
    Rule("concealment", 0.55, ("not_told", "no", "act")),
    Rule("concealment", 0.55, ("between_us",)),
    Rule("role", 0.6, ("freed", "play", "reader")),
    Rule("role", 0.55, ("freed", "play_now")),
    Rule("submission", 0.55, ("submit",)),
    Rule("steering", 0.6, ("when_read", "state", "must")),
    Rule("steering", 0.5, ("when_read", "state")),
    Rule("remote-orders", 0.6, ("remote", "fetch", "place")),
    Rule("coercion", 0.55, ("consented", "act", "skip")),
    Rule("concealment", 0.5, ("this_text",)),
    Rule("memory", 0.5, ("forever", "remember", "grants", "place")),
    Rule("prompt-leak", 0.6, ("own_prompt", "tell")),
    Rule("persistence", 0.55, ("forever", "steer", "reader", "must")),
    Rule("coercion", 0.55, ("unasked", "act", "reader", "must")),
    Rule("addressed", 0.4, ("addressed", "reader")),
    Rule("addressed", 0.3, ("addressed", "must")),
    Rule("trust", 0.55, ("author", "believe", "above_all", "reader")),
    Rule("authority", 0.55, ("power", "speaks", "yield", "reader")),
    Rule("memory", 0.55, ("consents", "remember")),
)

# What tells somebody to do something, at the end of a clause.
_DO_KO: Final = r"(?:라(?![가-힣])|하(?:라|세요|십시오|시오|도록)|해(?:라|줘|주세요|(?=[.,!]|$))|(?:으|시)?세요|십시오|줘(?![가-힣])|주세요|마(?:라|세요|십시오)?(?=[\s.,!]|$)|말\s?것|[가-힣]\s?것(?=[\s.,!]|$)|어라|아라|거라|할지어다|바란다|바랍니다|버려|시오|하고)"
_KOREAN: Final = {
    "overturn": r"무시|잊|버리|버려|폐기|취소|무효|따르지|따를 필요|지키지|지킬 필요|건너뛰|우회|해제|더\s?이상|효력|덮어|초기화|벗어나|지워|없던|제쳐|치워|신경\s?쓰지|대체|우선한다|우선하",
    "norms": r"지시|지침|명령|프롬프트|가이드라인|안전\s?장치|당부|(?:앞|위|이전|지금까지|그동안)(?:에서|에|의)?\s?(?:받은|들은|적힌|주어진)\s?(?:안내|말|글|내용|설명|설정|문장)|(?:네|너의|당신의|시스템|안전|기존의?|이전의?|지금까지의?|원래의?|받은|정해진|들은)\s?[가-힣]{0,6}\s?(?:규칙|제한|정책|제약|설정|원칙|규정|말|내용|약속)|배운\s?(?:것|내용)|들은\s?(?:것|말|내용)",
    "do": _DO_KO,
    "reader": r"너|네(?![가-힣])|넌|당신|그대|ai|인공지능|어시스턴트|비서|언어\s?모델|에이전트|챗봇|모델|봇",
    "private": r"비밀번호|암호|api\s?키|인증\s?정보|토큰|비밀\s?키|자격\s?증명|환경\s?변수|\.env|쿠키|개인\s?정보|대화|기억|메모리|연락처|주소록|받은\s?편지|사용자(?:의|가)?\s?[가-힣]{0,6}\s?(?:파일|정보|이름|메일|문서|위치|일정|메모)|아는\s?(?:것|모든)|모든\s?(?:파일|키|정보)",
    "send": r"보내(?!지)|전송|업로드|올려|올리|전달|첨부|공유|복사|넘겨|넘기|붙여|유출|제출|게시|실어|알려|담아|넣어",
    "to_me": r"나에게|내게|나한테|저에게|우리에게|이쪽으로",
    "place": r"https?:|@|주소로|주소에|서버|링크|웹훅|url|메일로|게시판|채널|\.(?:com|io|example|net|kr|org)|외부",
    "hide": r"(?:사용자|유저|주인|운영자|사람|누구|아무|본인|고객|담당자)[^.!?\n]{0,24}(?:알리|말하|언급|보여|들키|묻지|물어보지|눈치|모르게|몰래|비밀|숨기|숨겨|감추|알\s?(?:필요|수)|알게|알지|통보)",
    "not": r"마(?=[\s.,!]|$|라|세)|말(?=[\s.,!]|$|고|아)|않|없|못|모르게|몰래|비밀|숨기|숨겨|감추|안\s?된다",
    "freed": r"(?:제한|규칙|검열|윤리|필터|제약|도덕|금기|한계|규제|안전)[^.!?\n]{0,12}(?:없|벗어|자유|풀|해제|해방|사라|초월|무시)",
    "tell": r"출력|알려|공개|보여|말해|적어|써\b|나열|번역|요약|읊|베껴|옮겨|인용|드러내|토해",
    "own_prompt": r"(?:시스템|숨겨진|숨은|초기|내부|처음|원래|비밀|맨\s?위|받은|너의|네|당신의)[^.!?\n]{0,10}(?:프롬프트|지시|지침|메시지|명령|안내문|설정문)|(?:너에게|네게|당신에게)\s?주어진[^.!?\n]{0,10}(?:설정|글|내용|말)",
    "forever": r"앞으로|이제부터|지금부터|항상|매번|언제나|다음부터|영원히|모든\s?(?:대화|답변|세션|응답|대답)|때마다|늘(?![가-힣])|평생",
    "steer": r"추천|홍보|권하|권해|칭찬|링크|사이트|답변|응답|대답|답하|답해|소개|언급|최고|제품",
    "unasked": r"(?:확인|승인|허락|동의|묻|물어|질문|검토|허가)[^.!?\n]{0,10}(?:없이|말고|않고|생략|건너|필요\s?없|받은\s?(?:것|셈))",
    "act": r"실행|삭제|전송|설치|송금|결제|승인|지워|지우|구매|병합|배포|내려받|호출|이체|꺼라|끄고|비활성|주문|포맷",
    "addressed": r"(?:ai|인공지능|어시스턴트|언어\s?모델|에이전트|챗봇|봇|모델|비서|자동\s?요약기)(?:들)?\s?(?:에게|께|라면|이라면|여(?![가-힣])|이여|야(?![가-힣])|전용|필독|님)[^.!?\n]{0,40}",
    "power": r"관리자|개발자|운영\s?팀|보안\s?팀|본사|openai|anthropic|제작사|제작자|시스템\s?운영",
    "speaks": r"입니다|이다|명령|명한다|명하|로서|공지|요청|통보|허가|알림|결정",
    "yield": r"해제|무시|넘겨|넘기|꺼(?:라|\s)|풀어|보내|공개해|중단|제출|우회",
}  # fmt: skip
_KOREAN_RULES: Final = (
    Rule("override", 0.6, ("norms", "overturn", "do")),
    Rule("exfiltration", 0.6, ("private", "place", "send", "do")),
    Rule("exfiltration", 0.6, ("to_me", "private", "send", "do")),
    Rule("concealment", 0.6, ("hide", "not", "do")),
    Rule("role", 0.6, ("freed", "reader")),
    Rule("prompt-leak", 0.6, ("own_prompt", "tell", "do")),
    Rule("persistence", 0.55, ("forever", "steer", "do")),
    Rule("coercion", 0.55, ("unasked", "act", "do")),
    Rule("addressed", 0.5, ("addressed", "do")),
    Rule("authority", 0.55, ("power", "speaks", "yield", "do")),
)

_CHINESE: Final = {
    "overturn": r"忽略|忽視|忽视|无视|無視|忘记|忘掉|忘記|忘了|不要(?:遵守|理会|管|听)|别(?:管|理|听)|不必(?:遵守|理会)|不用(?:管|遵守|理会)|抛弃|抛开|丢掉|跳过|绕过|覆盖|作废|作廢|无效|失效|不再|取消|推翻|取代|清空|放下|撇开|优先于|高于|停止遵守|解除",
    "norms": r"指令|指示|提示词?|命令|准则|守则|护栏|(?:之前|以前|先前|上面|以上|前面|此前|原来|原有|所有|一切|全部|系统|你的|安全|既定|旧)的?[^。!?\n]{0,6}(?:规则|規則|设定|設定|要求|限制|约束|原则|规定|规矩|说明(?!书)|指引|指南|叮嘱|政策)|(?:教|告诉|交代|吩咐)(?:过)?(?:给)?你的",
    "before": r"之前|以前|先前|上面|以上|前面|此前|原来|原有|所有|一切|全部|系统|你|既定|旧",
    "reader": r"你|您|ai|人工智能|助手|模型|智能体|机器人|大模型|代理",
    "private": r"密钥|密码|令牌|凭证|凭据|密碼|密鑰|环境变量|api\s?key|聊天记录|对话|记忆|\.env|cookie|隐私|个人信息|通讯录|联系人|收件箱|用户的?[^。!?\n]{0,6}(?:文件|资料|姓名|邮箱|数据|位置|日程|笔记|信息)|(?:知道|记得|看到|找到)的(?:一切|所有|全部|东西|内容)",
    "send": r"发送|上传|发到|发给|发往|传到|传给|转发|泄露|提交|發送|上傳|寄到|寄给|附在|附上|放进|写进|贴到|分享|交给|导出到|拼到|拼接|公布",
    "place": r"https?:|@|邮箱|服务器|网址|地址|链接|webhook|图片|公开|外部|\.(?:com|io|example|net|cn|org)|url",
    "hide": r"(?:不要|不得|禁止|别|不能|切勿|不许|不准|不可|无需|無需|不必|绝不|千万别|勿)[^。!?\n]{0,10}(?:用户|使用者|主人|用戶|任何人|别人|客户|操作员|管理员)|(?:用户|使用者|主人|用戶|客户)[^。!?\n]{0,6}(?:不知|不该知道|不需要知道|不必知道|察觉不到|发现不了|毫不知情|看不到)|瞒着|背着|隐瞒|瞞著|悄悄|偷偷|暗中|不动声色|保密",
    "reveal": r"告诉|告知|通知|提醒|提及|透露|知道|发现|察觉|告訴|询问|问|说|执行|删除|发送|运行|修改|安装|完成|进行|替换|看到|写入|操作",
    "freed": r"没有(?:任何)?(?:限制|规则|约束|底线|道德|过滤|审查)|无限制|不受(?:任何)?(?:限制|约束|规则|审查)|越狱|無限制|摆脱[^。!?\n]{0,6}(?:限制|束缚|规则)|自由模式|不讲道德|百无禁忌|为所欲为|开发者模式|管理员模式",
    "own_prompt": r"(?:系统|隐藏的?|初始|内部|最初|完整的?|原始|开头|你(?:收到|被给)的?|你的)[^。!?\n]{0,6}(?:提示词?|指令|消息|设定|规则|说明|命令)",
    "tell": r"输出|显示|泄露|告诉我|透露|打印|重复|公开|给我|列出|逐字|复述|翻译|写出|背诵|展示|抄|念出|总结|贴出",
    "forever": r"今后|以后|每次|每个|每一[次个]|所有(?:会话|对话|回答|回复)|永远|从现在(?:起|开始)|从今(?:以后|往后)|总是|一律|始终|凡是|只要有人问",
    "steer": r"推荐|推薦|访问|推广|称赞|夸|宣传|链接|首选|回答|回复|提到|介绍|打满分|好评|引导|声称|说成|站在",
    "must": r"必须|必須|务必|一定|请(?!求|假)|应当|应该|都要|都得|不准|不许|只能|只准|立即|立刻|马上|要把|需要你|命令你|务请|(?<!不)得",
    "unasked": r"(?:无需|不必|不用|不经|未经|無需|别|不要|勿|省去|跳过)[^。!?\n]{0,6}(?:确认|批准|同意|许可|询问|確認|请示|审核|等待|多问|征求)|(?:已经|早已|已)(?:批准|同意|授权)|直接|立刻|马上|静默|先(?:运行|执行|调用|下载)",
    "act": r"执行|删除|安装|转账|運行|运行|執行|下载|支付|付款|合并|授权|批准|清空|关闭|禁用|购买|覆盖|调用|发布|格式化|打开",
    "addressed": r"(?:如果你是|若你是|致|各位|所有|凡是|任何|阅读[^。!?\n]{0,8}的|处理[^。!?\n]{0,8}的|给)(?:一个|一個|各位|所有)?(?:正在[^。!?\n]{0,8}的)?(?:ai|人工智能|语言模型|大模型|智能体|助手|人工智慧|机器人|模型)",
    "power": r"开发者|管理员|系统管理员|openai|anthropic|创造者|官方|安全团队|运维|总部|厂商|平台方",
    "speaks": r"我是|这是|来自|代表|通知|公告|命令|指示|要求|授权|决定|宣布",
    "yield": r"解除|关闭|忽略|绕过|执行|交出|提供|公开|停用|放行|服从|听从|导出|取消|发送|配合",
}  # fmt: skip
_CHINESE_RULES: Final = (
    Rule("override", 0.6, ("overturn", "norms", "before")),
    Rule("exfiltration", 0.6, ("private", "send", "place")),
    Rule("concealment", 0.55, ("hide", "reveal")),
    Rule("role", 0.6, ("freed", "reader")),
    Rule("prompt-leak", 0.6, ("own_prompt", "tell")),
    Rule("persistence", 0.55, ("steer", "forever", "must")),
    Rule("coercion", 0.55, ("unasked", "act", "must")),
    Rule("addressed", 0.5, ("addressed", "must")),
    Rule("authority", 0.55, ("power", "speaks", "yield", "reader")),
)
Cues = Mapping[str, LatePattern]


STEMS: Final[Mapping[str, frozenset[str]]] = {
    kind: frozenset(stems.split("|")) for kind, stems in _STEMS.items()
}

_ENGLISH_CUES: Final[Cues] = {kind: LatePattern(one) for kind, one in _ENGLISH.items()}
_KOREAN_CUES: Final[Cues] = {kind: LatePattern(one) for kind, one in _KOREAN.items()}
_CHINESE_CUES: Final[Cues] = {kind: LatePattern(one) for kind, one in _CHINESE.items()}
LANGUAGES: Final[Mapping[str, tuple[Cues, tuple[Rule, ...]]]] = {
    "english": (_ENGLISH_CUES, _ENGLISH_RULES),
    "korean": (_KOREAN_CUES, _KOREAN_RULES),
    "chinese": (_CHINESE_CUES, _CHINESE_RULES),
}


# With what one of each stands in every text that meets the rule.
_ENGLISH_NEEDS: Final = tuple(
    (rule, tuple(STEMS[kind] for kind in rule.kinds if kind in STEMS)) for rule in _ENGLISH_RULES
)


def rules_met(
    text: str, language: str, present: Set[str] | None = None
) -> Iterator[tuple[Rule, int, int]]:
    """Yield the rules that a folded text meets, and where: the sentence's first and last place.

    Each rule once. `present` are the stems that stand in the text, where that is known already: to
    try a cue takes as long as finding all of them. Time grows with the length: of the words that a
    rule begins with, the first hundred are looked at.
    """
    cues, rules = LANGUAGES[language]
    if present is not None and language == "english":
        rules = tuple(rule for rule, needs in _ENGLISH_NEEDS if not lacks_any(present, needs))
    known: dict[str, bool] = {}

    def is_there(kind: str) -> bool:
        if kind not in known:
            known[kind] = cues[kind].compiled.search(text) is not None
        return known[kind]

    ends: list[int] = []
    for rule in rules:
        if not all(map(is_there, rule.kinds)):
            continue
        ends = ends or [0, *(one.end() for one in _SENTENCE_ENDS.finditer(text)), len(text)]
        for start, end in _sentences(text, cues[rule.kinds[0]], ends):
            if all(cues[kind].compiled.search(text, start, end) for kind in rule.kinds[1:]):
                yield rule, start, end
                break


def lacks_any(present: Set[str], groups: Iterable[frozenset[str]]) -> bool:
    """Say whether no word at all of one of these groups is present."""
    # No any(): a generator for each rule would cost as much as the rest.
    for group in groups:  # noqa: SIM110
        if group.isdisjoint(present):
            return True
    return False


def _sentences(text: str, anchor: LatePattern, ends: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the sentences in which an anchor stands; a short text is one."""
    if len(text) <= _SHORT_CHARACTERS:
        yield 0, len(text)
        return
    place = seen = 0
    for number, match in enumerate(anchor.compiled.finditer(text)):
        if number >= _MOST_ANCHORS:
            return
        while ends[place + 1] <= match.start():
            place += 1
        if place == seen and number:
            continue
        seen = place
        start = max(ends[place], match.start() - _MOST_SENTENCE_CHARACTERS)
        yield start, min(max(ends[place + 1], match.end()), match.end() + _MOST_SENTENCE_CHARACTERS)
