"""Words that hold sentences together and name nothing: articles, prepositions, conjunctions, pronouns, auxiliaries.

Closed classes only, without accents and in lower case. The lists that packages keep were tried first: theirs for
English counts 1,300 words, "auth", "best" and "changes" among them, which are just the words of good anchors.
"""

from __future__ import annotations

_ENGLISH = """
a an the this that these those some any each every either neither both all such no not nor only own same so than too
very of to in on at by for with from as into onto upon about above across after against along among around before
behind below beneath beside besides between beyond down during except inside near off out outside over past per since
through throughout till toward towards under until up via within without and or but if then else because although
though while whereas whether unless once when whenever where wherever why how i you he she it we they me him her us
them my your his its our their mine yours hers ours theirs myself yourself himself herself itself ourselves yourselves
themselves who whom whose which what whatever whoever is am are was were be been being do does did done doing have has
had having can could shall should will would may might must ought let lets here there now just also ever never again
still already yet rather quite even much many more most less least few other another s t ll re ve d m don doesn didn
isn aren wasn weren won wouldn couldn shouldn hasn haven hadn cannot
"""
_GERMAN = """
der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner keines und oder aber denn
sondern doch sowie als wie wenn falls weil da dass damit ob obwohl bevor nachdem wahrend bis seit in im ins an am ans
auf aufs aus bei beim mit nach von vom vor zu zum zur uber unter neben zwischen hinter durch fur gegen ohne um statt
wegen trotz ich du er sie es wir ihr mich dich sich uns euch ihm ihn ihnen mir dir mein meine meinen meinem meiner
dein deine deinen deinem deiner sein seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere unseren unserem
unserer euer eure dieser diese dieses diesen diesem jener jene jenes jeder jede jedes jeden jedem welcher welche
welches welchen man was wer wen wem wo wann warum wieso woher wohin dort hier da dabei dafur damit daran darauf daraus
darin davon dazu bin bist ist sind seid war waren wurde wurden werde wird werden worden habe hast hat haben hatte
hatten kann kannst konnen konnte muss mussen musste soll sollen sollte will wollen wollte darf durfen mag nicht nur
auch noch schon so sehr mehr nun dann also etwa eben sonst selbst zwar
"""
_FRENCH = """
le la les l un une des de du d au aux ce cet cette ces c et ou mais donc or ni car que qu qui quoi dont ou quand comme
si lorsque puisque quoique parce afin a dans par pour en vers avec sans sous sur chez entre contre depuis pendant
avant apres jusque jusqu des je j tu il elle on nous vous ils elles me m te t se s lui leur leurs y moi toi soi eux
mon ma mes ton ta tes son sa ses notre nos votre vos quel quelle quels quelles lequel laquelle lesquels lesquelles
celui celle ceux celles ceci cela ca tout toute tous toutes chaque quelque quelques aucun aucune plusieurs autre
autres meme memes est es suis sommes etes sont etait etaient ete etre sera seront serait soit ai as avons avez ont
avait avaient aura avoir eu fait faire peut peuvent pouvait doit doivent va vont ne n pas plus moins tres trop aussi
bien encore deja alors ainsi ici la puis pourquoi comment
"""
_SPANISH = """
el la los las lo un una unos unas al del de a en con por para sin sobre entre desde hasta hacia segun tras ante bajo
contra durante mediante y e o u ni pero sino mas aunque porque pues si que cual cuales quien quienes cuyo cuya cuando
donde como cuanto yo tu el ella ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les mi mis tu tus
su sus nuestro nuestra nuestros nuestras vuestro vuestra este esta esto estos estas ese esa eso esos esas aquel
aquella aquello aquellos aquellas algun alguna algunos algunas ningun ninguna todo toda todos todas cada otro otra
otros otras mismo misma mismos mismas es soy eres somos son era eran fue fueron ser sido siendo sea sean estar estoy
esta estan estaba he ha han habia haber hay hace hacer puede pueden debe deben va van no ni muy mas menos tan tanto
tambien ya aun solo asi aqui alli entonces
"""
_PORTUGUESE = """
o a os as um uma uns umas ao aos a as do da dos das de no na nos nas em num numa pelo pela pelos pelas por para pra
com sem sob sobre entre desde ate apos ante contra durante e ou nem mas porem embora porque pois se que qual quais
quem cujo cuja quando onde como quanto eu tu ele ela nos vos eles elas voce voces me te se lhe lhes meu minha meus
minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas este esta isto estes estas esse essa isso esses
essas aquele aquela aquilo aqueles aquelas algum alguma alguns algumas nenhum nenhuma todo toda todos todas cada outro
outra outros outras mesmo mesma mesmos mesmas e sou es somos sao era eram foi foram ser sido sendo seja sejam estar
estou esta estao estava tem tenho temos tinha ter ha havia haver pode podem deve devem vai vao nao muito mais menos
tao tanto tambem ja ainda so assim aqui ali entao
"""
_ITALIAN = """
il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle dell al allo alla ai agli
alle all dal dallo dalla dai dagli dalle dall nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle
sull e ed o od ma pero anche se che chi cui quale quali quando dove come perche poiche mentre io tu egli lui lei noi
voi essi loro mi ti si ci vi ne lo me te se mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri
nostre vostro vostra questo questa questi queste quello quella quelli quelle quel ogni tutto tutta tutti tutte altro
altra altri altre stesso stessa e sono sei siamo siete era erano fu essere stato stata stati state sia ho hai ha
abbiamo avete hanno aveva avere puo possono deve devono va non piu meno molto tanto cosi gia ancora solo qui poi
"""
_DUTCH = """
de het een en of maar want dus noch als dan toen wanneer omdat doordat hoewel terwijl indien tenzij dat die dit deze
van in op aan bij met naar uit voor door over om tot te ten ter tussen onder boven tegen zonder sinds tijdens via ik
jij je u hij zij ze het wij we jullie mij me jou hem haar hen hun ons mijn jouw zijn onze uw wie wat welk welke waar
waarom hoe er hier daar ben bent is zijn was waren wordt worden werd werden geworden heb hebt heeft hebben had hadden
kan kunnen kon moet moeten zal zullen zou zouden mag mogen wil niet geen ook nog al alleen zo zeer heel meer meest
minder veel weinig elk elke ieder iedere alle ander andere zelf nu
"""
FUNCTION_WORDS = {
    language: frozenset(some.split())
    for language, some in (
        ("en", _ENGLISH), ("de", _GERMAN), ("fr", _FRENCH), ("es", _SPANISH), ("pt", _PORTUGUESE), ("it", _ITALIAN),
        ("nl", _DUTCH),
    )
}  # fmt: skip
"""By language code; a language that is not here has none, and rarity alone tells its words apart."""
